/** Every sentence of the page that is its own. What is in braces is put in as a node, wherever a language wants it. */
export const words = {
  loading: 'Opening your page …',
  sandbox: 'Sandbox',
  sandboxText: 'This is a test account. What is listed here is good in it only.',

  heading: 'What agents may do for you',
  headingNone: 'No agent may act for you',
  lead: 'You approved that these AI agents act for you at {developer}. You can end any of it here, at once.',
  leadNone: 'At {developer} there is nothing that you have approved and that has not ended.',
  principal: '{developer} knows you as {principal}.',
  closes: 'This page closes by itself {time}.',
  close: 'Close it now',
  endAll: 'End everything',

  grant: {
    removedAgent: 'An agent that has been removed',
    may: 'It may',
    purpose: 'For',
    audience: 'For use with',
    issued: 'Since',
    expires: 'Ends by itself',
    lastUsed: 'Last used',
    unused: 'Not yet',
    did: 'Identifier',
    ended: 'Ended',
    unverified: 'Nobody checked at the time that it was you who approved.',
    done: 'What was done with it',
    passedOn: 'Passed on to other agents',
    end: 'End',
    endOf: 'End what {agent} may do',
    endedNow: 'Ended. {agent} can do nothing more for you with this.',
    endedBranches: 'Ended, with all that was passed on. {agent} can do nothing more for you with this.',
  },

  question: {
    end: 'End what {agent} may do for you?',
    endText: 'It stops at once and cannot be undone. If you need the agent again, approve anew when it asks.',
    branches: 'What was passed on of it to other agents ends too: {count} more.',
    endAll: 'End everything?',
    endAllText:
      'No agent will be able to act for you at {developer} any more. It stops at once and cannot be undone: each agent has to ask you again.',
    yes: 'End it',
    yesAll: 'End everything',
    no: 'Keep it',
    noAll: 'Keep things as they are',
  },
  ending: 'Ending …',
  endedAll: 'Everything has been ended.',

  activity: 'What was done for you',
  activityNote: 'As the service has recorded it, newest first.',
  records: 'All records',
  nothingDone: 'Nothing is recorded.',
  before: 'What has ended before',
  nothingEnded: 'Nothing has ended yet.',
  earlier: 'Show earlier',
  reading: 'One moment …',
  entry: {
    by: '{action}, by {agent}',
    /** @type {Record<string, string>} by status, where it did not succeed */
    status: { failure: 'did not work', blocked: 'was refused' },
    details: 'Details',
    record: 'Record',
    hash: 'Fingerprint',
  },
  endedByYou: 'You ended what {agent} may do',
  /** @type {Record<string, string>} what the service itself records; what else stands there is the developer's */
  actions: {
    'authorization.requested': '{agent} asked to act for you',
    'authorization.approved': 'The request of {agent} was approved',
    'authorization.denied': 'The request of {agent} was denied',
    'authorization.cancelled': 'The request of {agent} was withdrawn',
    'authorization.expired': 'The request of {agent} ended without a decision',
    'grant.created': '{agent} was allowed to act for you',
    'grant.revoked': 'What {agent} may do was ended',
    'token.issued': '{agent} received a pass to show to others',
    'token.revoked': 'A pass of {agent} was ended',
    'token.reuse_detected': 'A key of {agent} came a second time, as a stolen one would',
    'principal.session_created': '{developer} opened this page for you',
  },
  /** @type {Record<string, string>} why a grant has ended */
  reasons: {
    principal: 'by you',
    developer: 'by {developer}',
    client: 'by the agent’s application',
    parent: 'with what it was passed on from',
    agent_revoked: 'with the agent',
    expired: 'by itself',
  },
  otherReason: 'by the service',

  /** What did not go through; the page stays. */
  problems: {
    busy: 'Too many tries in a short time. Try again in {duration}.',
    away: 'The service cannot answer just now. Nothing has changed.',
    uncertain: 'No clear answer came back. Try again: to end something twice does no harm.',
    unknown: 'This is not known any more. Open the link again from the application that sent you.',
    refused: 'The service did not accept this. Nothing has changed.',
  },

  /** In place of the page: heading, text. */
  pages: {
    incomplete: [
      'Please open the link again',
      'This window has no key to your page. A key is kept until the window is reloaded, and in no other one. Open the link again from the application that sent you.',
    ],
    ended: [
      'This page has been closed',
      'Its time is over, or it was closed in another window. What you ended stays ended. Ask the application that sent you for a new link.',
    ],
    closed: ['You have closed this page', 'The link opens nothing any more. You can close this window.'],
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
