/** Every sentence of this page alone. The page puts a node in place of each name in braces. */
export const words = {
  loading: 'Opening your page …',
  sandbox: 'Sandbox',
  sandboxText: 'This is a test account. Permissions on this page work only in it.',

  heading: 'Agents that may act for you',
  headingNone: 'No agent may act for you',
  lead: 'You approved that these AI agents act for you at {developer}. You can end each permission here, at once.',
  leadNone: 'No agent has an active permission from you at {developer}.',
  principal: '{developer} knows you as {principal}.',
  closes: 'This page closes by itself {time}.',
  close: 'Close it now',
  endAll: 'End everything',

  grant: {
    removedAgent: 'An agent that has been removed',
    may: 'It may',
    limits: 'Limits',
    purpose: 'For',
    audience: 'For use with',
    issued: 'Since',
    expires: 'Ends by itself',
    lastUsed: 'Last used',
    unused: 'Not yet',
    did: 'Identifier',
    ended: 'Ended',
    unverified: 'At the time, nobody checked that it was you who approved.',
    done: 'History of this permission',
    passedOn: 'Passed on to other agents',
    end: 'End',
    endOf: 'End what {agent} may do',
    endedNow: 'Ended. {agent} can do nothing more for you with this.',
    endedBranches: 'Ended, with all that was passed on. {agent} can do nothing more for you with this.',
  },

  question: {
    end: 'End what {agent} may do for you?',
    endText:
      'It stops at once, with every request of this agent that is still open, and cannot be undone. If you need the agent again, approve its next request.',
    branches: 'Other agents lose what this agent passed on to them: {count} more.',
    endAll: 'End everything?',
    endAllText:
      'No agent will be able to act for you at {developer}. Everything stops at once, open requests too, and this cannot be undone: each agent has to ask you again.',
    yes: 'End it',
    yesAll: 'End everything',
    no: 'Keep it',
    noAll: 'Keep things as they are',
  },
  ending: 'Ending …',
  endedAll: 'Everything has been ended.',

  connections: {
    title: 'Connected accounts',
    lead: 'You connected these accounts of yours. Agents with your permission work with them through {developer}.',
    accountTerm: 'Account',
    noAccount: 'The provider does not tell which',
    granted: 'You allowed',
    since: 'Since',
    over: 'No longer connected',
    overText:
      'The provider takes the connection no more. Connect the account again, if agents should go on with it.',
    again: 'Connect again',
    againOf: 'Connect again: {provider}',
    end: 'Disconnect',
    endOf: 'Disconnect {provider}',
    question: 'Disconnect {provider}?',
    account: 'The account: {account}.',
    questionText:
      'Agents can no longer use this account through {developer}, and {provider} is asked to end the connection too. You can connect the account again later.',
    yes: 'Disconnect',
    ended: 'Disconnected. This connection no longer gives agents access to your account at {provider}.',
  },

  activity: 'Activity in your name',
  activityNote: 'From the records of the service, newest first.',
  records: 'All records',
  nothingDone: 'Nothing is recorded.',
  before: 'Permissions that have ended',
  nothingEnded: 'Nothing has ended yet.',
  earlier: 'Show earlier',
  reading: 'One moment …',
  entry: {
    by: '{action}, by {agent}',
    /** @type {Record<string, string>} by status, for an act that did not succeed */
    status: { failure: 'did not work', blocked: 'was refused' },
    details: 'Details',
    record: 'Record',
    hash: 'Fingerprint',
  },
  endedByYou: 'You ended what {agent} may do',
  /** @type {Record<string, string>} acts of the service itself; a developer words all others */
  actions: {
    'authorization.requested': '{agent} asked to act for you',
    'authorization.approved': 'The request of {agent} was approved',
    'authorization.denied': 'The request of {agent} was denied',
    'authorization.cancelled': 'The request of {agent} was withdrawn',
    'authorization.expired': 'The request of {agent} ended without a decision',
    'grant.created': '{agent} was allowed to act for you',
    'grant.revoked': 'A permission of {agent} was ended',
    'token.issued': '{agent} received a pass to show to others',
    'token.revoked': 'A pass of {agent} was ended',
    'token.reuse_detected': 'A key of {agent} came a second time, as a stolen one would',
    'principal.session_created': '{developer} opened this page for you',
    'vault.connection.requested': 'A link was made by which you can connect an account',
    'vault.connection.connected': 'You connected an account',
    'vault.connection.failed': 'An account could not be connected',
    'vault.connection.disconnected': 'An account was disconnected',
    'vault.connection.reauthorization_required': 'An account has to be connected again',
    'vault.credential.stored': 'The key to an account of yours was stored',
    'vault.credential.refreshed': 'The key to an account of yours was renewed',
    'vault.credential.refresh_failed': 'The key to an account of yours could not be renewed',
    'vault.credential.deleted': 'The key to an account of yours was deleted',
    'vault.credential.exchanged': '{agent} received the key to an account of yours',
    'vault.proxy.called': '{agent} used an account of yours, without its key',
  },
  /** @type {Record<string, string>} why a grant has ended */
  reasons: {
    principal: 'by you',
    developer: 'by {developer}',
    client: 'by the agent’s application',
    parent: 'with the permission that it came from',
    agent_revoked: 'with the agent',
    token_revoked: 'with the pass that it was made with',
    expired: 'by itself',
  },
  otherReason: 'by the service',

  /** A call failed, and the page stays. */
  problems: {
    busy: 'Too many tries in a short time. Try again in {duration}.',
    away: 'The service cannot answer just now. Nothing has changed.',
    uncertain: 'No clear answer came back. Try again: a second try does no harm.',
    unknown:
      'The service no longer knows this permission. Open the link again from the application that sent you.',
    refused: 'The service did not accept this. Nothing has changed.',
  },

  /** In place of the page: heading, text. */
  pages: {
    incomplete: [
      'Please open the link again',
      'This window has no key to your page. A window keeps its key until it is reloaded, and no other window has it. Open the link again from the application that sent you.',
    ],
    ended: [
      'This page has been closed',
      'Its time is over, or it was closed in another window. Everything you ended stays ended. Ask the application that sent you for a new link.',
    ],
    closed: ['You have closed this page', 'The link no longer opens anything. You can close this window.'],
    busy: ['Please wait a moment', 'Too many tries in a short time. Try again in {duration}.'],
    away: [
      'Your page cannot be opened just now',
      'The service does not answer, or the connection is gone. Nothing has changed.',
    ],
    notHere: [
      'Your page cannot be opened like this',
      'It needs a window of its own. Open the link again from the application that sent you.',
    ],
  },
};
