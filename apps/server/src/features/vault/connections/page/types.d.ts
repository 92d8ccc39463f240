/** Types of this page's scripts. The service serves no part of this. */
import type { Branding, Child } from '../../../../platform/page/types.js';

export interface Connect {
  developerName: string;
  branding?: Branding;
  principalId: string;
  agentName: string | null;
  providerName: string;
  service: string;
  authorizationHost: string;
  scopes: { scope: string; required: boolean; new: boolean }[];
  current: { accountLabel: string | null; scopes: string[] } | null;
  result: {
    accountLabel: string | null;
    accountKnown: boolean;
    replaces: boolean;
    scopesGranted: string[];
    missing: string[];
  } | null;
  expiresAt: string;
  sandbox: boolean;
}

/** The session as the service shows it to this browser. */
export interface Session {
  id: string;
  status: string;
  reason: string | null;
  csrfToken: string;
  loginUrl: string | null;
  verification: {
    mode: string;
    satisfied: boolean;
    methods: string[];
    /** Whether the page can send the person to an identity provider. */
    signInHere?: true;
    /** The browser is signed in as somebody else. */
    otherPerson?: true;
  };
  connect: Connect;
}

export interface Ended {
  status: 'connected' | 'cancelled';
  redirectTo?: string;
}

/** The calls of the view, and the step that proves the person by mail. */
export interface ViewUse {
  codeStep: HTMLElement | undefined;
  provePasskey: () => void;
  signIn: () => void;
  /** Signs in at the person's identity provider. */
  signOn: () => void;
  start: (scopes: string[]) => void;
  confirm: (replaceAccount: boolean) => void;
  cancel: () => void;
}

export interface View {
  page: HTMLElement;
  heading: HTMLElement;
  showNotice: (...content: Child[]) => void;
}
