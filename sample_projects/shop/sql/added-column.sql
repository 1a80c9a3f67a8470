-- A release of the sales service: orders come from somewhere.
BEGIN;
ALTER TABLE sales.orders ADD COLUMN channel text;
CREATE OR REPLACE FUNCTION open_order(customer bigint) RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO sales.orders (customer_id, channel) VALUES (customer, any_of('web', 'app', 'shop', 'phone'))
    RETURNING order_no;
$$;
COMMIT;
