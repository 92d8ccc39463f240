-- Whoever reads this table takes its lock first.
select 1;
