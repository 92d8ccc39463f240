/** Types that the scripts of all pages share. The service serves no part of this. */

export type Part = string | number | Node;
export type Child = Part | false | null | undefined | Child[];
/** A sentence that counts `{n}` things, by the plural categories of its language that whole numbers need. */
export type Forms = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>;

/** The text for an English one. For a sentence that counts: its forms, or one text where the language has one form. */
export type Message = string | Forms;

export type Attributes = Record<string, string | boolean | undefined>;

/** The body of a refusal, with its status. */
export interface Refusal {
  status: number;
  code?: string;
  message?: string;
  requestId?: string;
  details?: { status?: string; field?: string; sub_reason?: string; loginUrl?: string };
}

/** How an account wants to be shown. */
export interface Branding {
  logoUrl?: string | null;
  /** "#0b5a68". White text on it can be read. */
  accentColor?: string | null;
}

/** Only on the pages for consent and for connecting accounts. */
export type ConsentProblem =
  | 'notEnrolled'
  | 'noPasskey'
  | 'passkeyUnable'
  | 'passkeyRefused'
  | 'copied'
  | 'over'
  | 'proof'
  | 'policy'
  | 'sso'
  | 'ssoScopes'
  | 'replaced'
  | 'changed'
  | 'otherAccount';

/** Only on the page of approvers. */
export type ApproverProblem =
  | 'sso'
  | 'otherPerson'
  | 'otherApprover'
  | 'oldSession'
  | 'lastPasskey'
  | 'approverNeeded'
  | 'absent'
  | 'notActive';

/** Everything that can go wrong, by the way out for a person. */
export interface Problem {
  /** `away`: nothing happened. `uncertain`: it may have happened. */
  kind:
    | 'busy'
    | 'away'
    | 'uncertain'
    | 'noSession'
    | 'unknown'
    | 'refused'
    | ConsentProblem
    | ApproverProblem;
  /** The status of a request that is over. */
  status?: string;
  /** The wait before the next try. */
  seconds?: number;
  /** The service's own words, on pages that show them. */
  message?: string;
  /** Where the person signs in at their organisation. */
  signInAt?: string;
  /** The id of the failed call. */
  reference?: string;
}

/** The limits on what an agent may pass to one tool. The service writes the words, from the rules that it enforces. */
export interface ArgumentLimits {
  connector: string;
  tool: string;
  /** Whether arguments that no line names are free. */
  open: boolean;
  lines: { path: string; text: string }[];
}

export type Answer<Body> = { ok: true; body: Body } | { ok: false; problem: Problem };

/** The question for a passkey, as the service asks it. */
export interface PasskeyOptions {
  challengeId: string;
  publicKey: PublicKeyCredentialRequestOptionsJSON;
}

/** The question for a new passkey. */
export interface PasskeyCreation {
  challengeId: string;
  publicKey: PublicKeyCredentialCreationOptionsJSON;
}

export interface PasskeyAnswer {
  challengeId: string;
  response: object;
}

/** The words of the step in which a person types a mailed code. */
export interface CodeWords {
  send: string;
  sendAgain: string;
  sent: string;
  label: string;
  check: string;
  waiting: string;
  incomplete: string;
  wrong: string;
  notSent: string;
}

export interface CodeUse {
  words: CodeWords;
  sendCode: () => Promise<Answer<unknown>>;
  checkCode: (code: string) => Promise<Answer<unknown>>;
  proved: () => void;
  /** The words for a problem that is not about the code. */
  explain: (problem: Problem) => Child;
}

export interface ToolScope {
  connector: string;
  /** 0 is reading, 3 is administration. */
  level: number;
  resource: string | undefined;
  cap: string | undefined;
}

export interface ScopeGroup {
  kind: 'tool' | 'resource' | 'other';
  name: string;
  members: string[];
}
