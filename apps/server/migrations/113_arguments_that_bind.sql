-- The canonical JSON of all arguments of a call whose manifest binds a part of them; `action` has that part.
alter table decisions add column given text;
