-- The shop that models/shop and tests/shop are written for. Every transaction keeps three rules: an order's total is
-- the sum of its items, a balance is payments minus orders, and what was made is in stock or ordered.
create table customers (
    id bigint primary key,
    email varchar(120) not null unique,
    name text,
    tier varchar(10) not null default 'std',
    balance numeric(14, 2) not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamp(3)
);
create table products (
    sku text primary key,
    name text not null,
    price numeric(10, 2) not null,
    stock int not null,
    made int not null,
    attrs jsonb
);
create table orders (
    id bigint primary key,
    customer_id bigint not null references customers on update cascade,
    status varchar(16) not null default 'new',
    total numeric(12, 2) not null default 0,
    placed_at timestamptz not null default clock_timestamp(),
    note text
);
create table order_items (
    order_id bigint references orders on delete cascade,
    line_no smallint,
    sku text not null references products,
    qty int not null,
    unit_price numeric(10, 2) not null,
    primary key (order_id, line_no)
);
create table payments (
    id uuid primary key default gen_random_uuid(),
    order_id bigint not null references orders on delete cascade,
    amount numeric(12, 2) not null,
    method varchar(16) not null,
    paid_at timestamptz not null default clock_timestamp()
);
create sequence order_number;
create index on orders (customer_id);
create index on payments (order_id);
