-- Passkeys with which members sign in to the console, and step up there. No other kind of person's passkey counts for them.
alter type passkey_owner add value 'member';
