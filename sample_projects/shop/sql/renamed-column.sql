-- A release of the customer service: somebody found a better name.
BEGIN;
ALTER TABLE crm.customer RENAME COLUMN email TO email_address;
CREATE OR REPLACE PROCEDURE sign_up() LANGUAGE plpgsql AS $$
DECLARE
    name text := any_of('Ada', 'Björn', 'Chloé', 'Dario', 'Elif', 'Fatou', 'Greta', 'Hana') || ' '
        || any_of('Almeida', 'Becker', 'Costa', 'Dupont', 'Eriksen', 'Fischer', 'Greco', 'Horák');
BEGIN
    INSERT INTO crm.customer (full_name, email_address, country)
    VALUES (name, format('c%s@example.com', floor(random() * 1e9)), any_of('DE', 'FR', 'IT', 'PT', 'SE', 'CZ'));
END $$;
CREATE OR REPLACE PROCEDURE change_address() LANGUAGE sql AS $$
    UPDATE crm.customer
    SET email_address = format('c%s@example.org', floor(random() * 1e9)), country = any_of('DE', 'FR', 'NL')
    WHERE id = (SELECT any_customer());
$$;
COMMIT;
