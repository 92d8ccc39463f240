import { translated } from '../../../../platform/page/words.js';

/** Every sentence of this page alone. The page puts a node in place of each name in braces. */
export const words = translated({
  service: 'Behest',
  loading: 'Opening the request …',
  sandbox: 'Sandbox',
  sandboxText: 'This is a test and works only in the test account.',

  heading: '{agent} asks to act for you',
  signedIn: 'Signed in as {principal}',
  forPerson: 'For {principal}',
  permissions: 'What it may do',
  budget: 'Spend up to {amount} in all',
  resource: 'Only at {resource}',
  unseen: { one: '1 more permission to see', other: '{n} more permissions to see' },
  vouched: {
    developer: 'Registered by {developer}.',
    host: 'Published by {host}.',
  },
  nameless: 'Nobody has checked this name',
  namelessText: 'Anybody can call a program “{agent}”.',

  /** One tap away. */
  details: {
    title: 'Details',
    agent: 'Agent',
    description: 'In its own words',
    developer: 'From',
    did: 'Identifier',
    person: 'You',
    principal: 'This is the name by which {developer} knows you.',
    purpose: 'Purpose',
    purposeOnly: 'It may be used for this purpose only.',
    exact: 'Exact permissions',
    exactCounts: 'The exact text counts.',
    star: 'A star (*) stands for anything.',
    budget: 'Money',
    tools: 'Exact tools',
    manifests: 'Descriptions',
    audience: 'For use with',
    afterwards: 'Afterwards',
    returnsTo: 'You are taken to {host}',
    staysHere: 'You stay on this page. {developer} learns what you decided.',
    decideUntil: 'Your decision',
    reference: 'Request',
  },

  difference: {
    first: 'First request from this agent.',
    replaces: 'If you allow this, it takes the place of an earlier permission of this agent, which ends.',
  },
  local: 'A program on this device',
  localText:
    'The answer goes to a program on this device. Allow it only if you have just started that program yourself.',

  channel: {
    device: {
      title: 'Compare the code',
      text: 'Your own device has to show {text}. If anybody sent you this code, or you have not just started this on a device of yours, deny: the person who holds that device would act as you.',
      alone:
        'If you have not just started this on a device of yours, deny: the person who holds that device would act as you.',
    },
    ciba: {
      title: 'Asked from elsewhere',
      text: 'The other side has to show {text}. If it shows anything else, or you expect no such request, deny.',
      alone: 'The request was not started in this browser. If you expect no such request, deny.',
    },
  },

  proof: {
    notVerified: 'Not verified',
    link: 'Anyone who holds this link can decide. Allow it only if it was meant for you.',
    missing: 'Not verified yet',
    unproved: 'To allow this, sign in at {developer} again and open the request from there.',
    /** @type {Record<string, string>} by mode, while the proof is missing */
    lacking: {
      email: 'To allow this, show that you are {principal}: a code goes to the email address on file.',
      passkey:
        'Your browser asks for the passkey of {principal}, which signs exactly this. If you have none, register one at {developer} first.',
      sso: 'To allow this, sign in through your organisation as {principal} and open the request again.',
      signOn: 'To allow this, sign in through your organisation as {principal}. You come back here.',
      otherPerson:
        'You are signed in through your organisation, but not as {principal}. To allow this, sign in there as {principal}.',
    },
    passkey: 'Your passkey',
    denyAnyway: 'You can deny without it.',
    proved: 'Your identity has been checked.',
    /** @type {Record<string, string>} by mode, once the proof is given */
    given: {
      sandbox: 'In the sandbox, nobody checks who you are.',
      developer: '{developer} vouches that this is you.',
      email: 'You have shown that you can read this person’s email.',
      passkey: 'You have shown this person’s passkey.',
      sso: 'You have signed in through your organisation.',
    },
  },

  signOn: 'Sign in through your organisation',

  email: {
    send: 'Send the code',
    sendAgain: 'Send another code',
    sent: 'The code is on its way. It is valid for ten minutes.',
    label: 'Code from the email',
    check: 'Check the code',
    waiting: 'One moment …',
    incomplete: 'The code has eight digits.',
    wrong: 'This is not the code that was sent last.',
    notSent: 'The service could not send a code. You can still deny.',
  },

  scopes: {
    farReaching: { other: '{n} that may spend, send, delete or publish' },
    total: 'All permissions',
    selected: '{kept} of {all} selected',
    selectAll: 'Select all',
    selectNone: 'Select none',
    tools: 'Tools of {connector}',
    others: 'Other permissions',
    stillCovered: 'Still allowed: it is part of {scope}',
    capLost: 'Without it, its limit of {amount} no longer holds for other permissions for {connector}',
  },

  tools: {
    title: 'Within limits',
    only: { one: 'With 1 tool only', other: 'With {n} tools only' },
    prefix: 'every tool whose name begins like this',
    /** What a tool does at most. */
    levels: {
      read: 'only reads',
      write: 'makes changes',
      delete: 'can delete',
      admin: 'can do everything, administration included',
    },
    more: { other: '{n} more' },
    covers: 'Now: {tools}',
    other: '{tool}: {limits}',
    costUnits: 'Cost units, all tools together: {limits}',
    region: 'Data region: {region}',
    manifest: 'As the tools of {connector} are described now: version {version} ({sha256}).',
    pinned: 'If they may do more later, that is noticed.',
    noManifest: '{developer} has registered no description of the tools of {connector}.',
    unused: 'Not included, because no permission for {connector} is selected.',
    never: 'not at all ({limits})',
    atMost: 'at most {limits}',
    limit: '{count} {window}',
    windows: { per_case: 'per case', per_hour: 'per hour', per_day: 'per day' },
  },

  limits: {
    less: 'Allow less',
    min: '{path} at least',
    max: '{path} at most',
    items: '{path}, allowed values',
    eachEntry: 'each entry',
    /** The limits that the person has set. */
    own: {
      min: 'You allow at least {value}.',
      max: 'You allow at most {value}.',
      items: 'You allow {kept} of {all} values.',
    },
    wrong: {
      min: '“{path}” has to be a number that is not below {asked}, written like 100.50.',
      max: '“{path}” has to be a number that is not above {asked}, written like 100.50.',
      crossed: '“{path}” can be no number: its lowest value is above its highest.',
      empty: '“{path}” has no value left. Select at least one, or take away the tool.',
    },
  },

  time: {
    label: 'Ends after',
    until: 'Until {time}',
  },

  decision: {
    summary: 'You allow {selection}.',
    allScopes: 'everything requested',
    someScopes: '{kept} of {all} permissions',
    someTools: '{kept} of {all} tools',
    tighter: 'within tighter limits',
    duration: 'for {duration}',
    open: 'You can decide until {time}. If you do not, nothing is granted.',
    reasonSummary: 'Reason to deny',
    reasonHint: 'Your reason, for {developer} to read (up to 200 characters)',
    deny: 'Deny',
    denying: 'Denying …',
    approve: 'Allow',
    approving: 'Allowing …',
    closingSoon: 'This request ends soon: {time}. If you do not decide, nothing is granted.',
    pressAgain:
      'This page has only just come to the front, so nothing was sent. Press Allow again if you mean it.',
    proofFirst: 'You cannot allow this yet. The top of this page says what is missing.',
    /** The reasons that a selection cannot be approved. */
    missing: {
      scope: 'Nothing is selected. Select at least one permission, or deny.',
      toolScope:
        'The purpose of this request needs a tool. Select at least one permission for a tool, or deny.',
      tool: 'No tool of {connector} is selected. Select at least one, or take away the permissions for it.',
    },
  },

  /** A decision failed, and the request stays on the page. */
  problems: {
    busy: 'Too many tries in a short time. Nothing was decided; your selection is kept. Try again in {duration}.',
    away: 'The service cannot answer just now. Nothing was decided; your selection is kept.',
    uncertain:
      'No clear answer came back, so your decision may or may not have arrived. Try again: it never counts twice. Your selection is kept.',
    replaced: 'Another window has opened this request. Nothing was decided here; your selection is kept.',
    proof:
      'Nothing was decided, because your identity is not verified. Sign in at {developer} again and open the request from there.',
    changed: 'This request says something else by now. Nothing was decided. Look at the request again.',
    policy: 'A rule of {developer} does not allow this. Nothing was decided. You can select less, or deny.',
    sso: 'Nothing was decided: {developer} asks that you first sign in through your organisation.',
    notEnrolled:
      'You have no passkey yet. Nothing was decided. Register a passkey at {developer}, and open the request again.',
    noPasskey: 'No passkey was used, so nothing was decided. Press Allow to try again, or deny.',
    passkeyUnable:
      'Passkeys do not work in this browser or at this address. Nothing was decided. Try another browser.',
    passkeyRefused: 'The service did not accept the passkey. Nothing was decided. Try again.',
    copied:
      'There may be a copy of this passkey, so it counts no longer. Nothing was decided. Use another passkey, and tell {developer}.',
    ssoScopes:
      'Your organisation does not let you give all of this. Nothing was decided. You can select less, or deny.',
    refused: 'The service did not accept this. Nothing was decided. You can select otherwise, or deny.',
  },
  resumed: 'You can decide now.',
  useThisWindow: 'Use this window',
  lookAgain: 'Show the request as it is now',

  /** In place of the request: heading, text. */
  pages: {
    incomplete: [
      'This link is not complete',
      'Part of the address is missing. Open the link again from the application that sent you.',
    ],
    noSession: [
      'Please open the link again',
      'This window has no key to the request. Perhaps its address was copied, or another browser has opened the request. Open the link again from the application that sent you.',
    ],
    reopen: [
      'This window has lost the request',
      'Perhaps another browser has opened it. Nothing was decided here. You can open it again.',
    ],
    unknown: [
      'There is no such request',
      'The link may be cut short. Open it again from the application that sent you.',
    ],
    away: [
      'The request cannot be opened just now',
      'The service does not answer, or the connection is gone. Nothing was decided.',
    ],
    busy: [
      'Please wait a moment',
      'Too many tries in a short time. Nothing was decided. Try again in {duration}.',
    ],
    notHere: [
      'The request cannot be opened like this',
      'It needs a window of its own. Open the link again from the application that sent you.',
    ],
    approved: ['This request was approved', 'It cannot be decided again. You can close this window.'],
    consumed: ['This request was approved', 'It is in use already. You can close this window.'],
    denied: ['This request was denied', 'Nothing was granted. You can close this window.'],
    expired: [
      'This request has ended',
      'Nobody decided in time, so nothing was granted. Start again in the application that sent you.',
    ],
    cancelled: [
      'This request was withdrawn',
      'The application that asked has withdrawn it. Nothing was granted. You can close this window.',
    ],
    over: ['This request is over', 'There is nothing left to decide. You can close this window.'],
  },

  done: {
    approved: ['Allowed', '{agent} may now act for {principal}, with {selection}.'],
    denied: ['Denied', '{agent} may not act for you on this request. Nothing was granted.'],
    returning: 'Taking you to {host} …',
    close: 'You can close this window.',
    nothingOpens: 'If nothing else opens, you can close this window.',
    go: 'Go there now',
    permissions: 'See and end what agents may do for you',
  },
});
