-- Owner: members. A session that a link of the operator opened.
alter type console_opening add value 'recovery';
