-- Three services of a shop, each with a schema of its own in one database.

CREATE SCHEMA crm;
CREATE SCHEMA sales;
CREATE SCHEMA billing;

CREATE TABLE crm.customer (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    full_name text NOT NULL,
    email text NOT NULL,
    country char(2) NOT NULL,
    vip boolean NOT NULL DEFAULT false,
    registered_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sales.orders (
    order_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES crm.customer,
    state text NOT NULL DEFAULT 'new',
    total numeric(10, 2) NOT NULL DEFAULT 0,
    currency char(3) NOT NULL DEFAULT 'EUR',
    placed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sales.order_line (
    order_no bigint NOT NULL REFERENCES sales.orders ON DELETE CASCADE,
    line_no int NOT NULL,
    sku text NOT NULL,
    quantity int NOT NULL,
    unit_price numeric(8, 2) NOT NULL,
    PRIMARY KEY (order_no, line_no)
);

CREATE TABLE billing.payment (
    payment_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_no bigint NOT NULL,
    amount numeric(10, 2) NOT NULL,
    currency char(3) NOT NULL,
    method text NOT NULL,
    paid_at timestamptz NOT NULL DEFAULT now(),
    refunded boolean NOT NULL DEFAULT false
);

-- What customers and staff do, one function each, so that a release of a service can replace its own.

CREATE FUNCTION any_of(VARIADIC words text[]) RETURNS text LANGUAGE sql VOLATILE AS
    $$ SELECT words[1 + floor(random() * array_length(words, 1))::int] $$;

CREATE FUNCTION any_customer() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT 1 + floor(random() * max(id))::bigint FROM crm.customer $$;

CREATE FUNCTION any_order(wanted text) RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT order_no FROM sales.orders WHERE state = wanted ORDER BY placed_at LIMIT 1 $$;

CREATE INDEX ON sales.orders (state, placed_at);

CREATE PROCEDURE sign_up() LANGUAGE plpgsql AS $$
DECLARE
    name text := any_of('Ada', 'Björn', 'Chloé', 'Dario', 'Elif', 'Fatou', 'Greta', 'Hana') || ' '
        || any_of('Almeida', 'Becker', 'Costa', 'Dupont', 'Eriksen', 'Fischer', 'Greco', 'Horák');
BEGIN
    INSERT INTO crm.customer (full_name, email, country)
    VALUES (name, format('c%s@example.com', floor(random() * 1e9)), any_of('DE', 'FR', 'IT', 'PT', 'SE', 'CZ'));
END $$;

CREATE PROCEDURE change_address() LANGUAGE sql AS $$
    UPDATE crm.customer SET email = format('c%s@example.org', floor(random() * 1e9)), country = any_of('DE', 'FR', 'NL')
    WHERE id = (SELECT any_customer());
$$;

CREATE PROCEDURE make_vip() LANGUAGE sql AS $$
    UPDATE crm.customer SET vip = true WHERE id = (SELECT any_customer()) AND NOT vip;
$$;

CREATE FUNCTION open_order(customer bigint) RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO sales.orders (customer_id) VALUES (customer) RETURNING order_no;
$$;

CREATE PROCEDURE place_order() LANGUAGE plpgsql AS $$
DECLARE
    number bigint := open_order(any_customer());
BEGIN
    INSERT INTO sales.order_line
    SELECT number, line, format('SKU-%s', 100 + floor(random() * 900)), 1 + floor(random() * 4), 2 + random() * 80
    FROM generate_series(1, 1 + floor(random() * 3)::int) AS line;
    UPDATE sales.orders
    SET total = (SELECT sum(quantity * unit_price) FROM sales.order_line WHERE order_no = number)
    WHERE order_no = number;
END $$;

CREATE PROCEDURE pay() LANGUAGE plpgsql AS $$
DECLARE
    number bigint := any_order('new');
BEGIN
    INSERT INTO billing.payment (order_no, amount, currency, method)
    SELECT order_no, total, currency, any_of('card', 'transfer', 'wallet') FROM sales.orders WHERE order_no = number;
    UPDATE sales.orders SET state = 'paid' WHERE order_no = number;
END $$;

CREATE PROCEDURE ship() LANGUAGE sql AS $$
    UPDATE sales.orders SET state = 'shipped' WHERE order_no = (SELECT any_order('paid'));
$$;

CREATE PROCEDURE cancel() LANGUAGE sql AS $$
    DELETE FROM sales.orders WHERE order_no = (SELECT any_order('new'));
$$;

CREATE PROCEDURE refund() LANGUAGE sql AS $$
    UPDATE billing.payment SET refunded = true
    WHERE payment_id = (SELECT payment_id FROM billing.payment WHERE NOT refunded ORDER BY random() LIMIT 1);
$$;

-- So many of these in a row, the common ones more often.
CREATE PROCEDURE business(steps int) LANGUAGE plpgsql AS $$
DECLARE
    chance float;
BEGIN
    FOR step IN 1..steps LOOP
        chance := random();
        IF chance < 0.08 THEN CALL sign_up();
        ELSIF chance < 0.22 THEN CALL change_address();
        ELSIF chance < 0.25 THEN CALL make_vip();
        ELSIF chance < 0.55 THEN CALL place_order();
        ELSIF chance < 0.74 THEN CALL pay();
        ELSIF chance < 0.90 THEN CALL ship();
        ELSIF chance < 0.97 THEN CALL cancel();
        ELSE CALL refund();
        END IF;
    END LOOP;
END $$;

-- What there is before anybody looks.
DO $$
BEGIN
    FOR number IN 1..40 LOOP CALL sign_up(); END LOOP;
    FOR number IN 1..30 LOOP CALL place_order(); END LOOP;
    CALL business(60);
END $$;
