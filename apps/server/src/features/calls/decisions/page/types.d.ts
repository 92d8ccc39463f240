/** Types of this page's scripts. The service serves no part of this. */
import type { Branding, PasskeyCreation } from '../../../../platform/page/types.js';

export interface Opened {
  approver: {
    approverId: string;
    kind: 'person' | 'principal';
    displayName: string;
    status: string;
    activeFrom: string | null;
    absence: Absence | null;
  };
  developerName: string;
  branding?: Branding;
  csrfToken: string;
  mayDecideUntil: string;
}

export interface Absence {
  from: string;
  until: string;
  deputyApproverId: string | null;
}

export interface OwnPasskey {
  id: string;
  status: 'active' | 'suspect';
  createdAt: string;
  lastUsedAt: string | null;
}

export interface OwnPasskeys {
  passkeys: OwnPasskey[];
}

export interface Notifications {
  publicKey: string;
  subscriptions: { id: string; endpointSha256: string; vapidKey: string; createdAt: string }[];
}

/** The parts of a service worker's scope that ours uses. The checker knows only the scope of pages. */
export interface WorkerScope {
  registration: ServiceWorkerRegistration;
  clients: { openWindow(address: string): Promise<unknown> };
  location: Location;
  addEventListener(
    type: 'push',
    listener: (event: { data: { json(): unknown } | null; waitUntil(work: Promise<unknown>): void }) => void,
  ): void;
  addEventListener(
    type: 'notificationclick',
    listener: (event: { notification: Notification; waitUntil(work: Promise<unknown>): void }) => void,
  ): void;
}

export interface Enrolment extends PasskeyCreation {
  developerName: string;
  branding?: Branding;
  displayName: string;
  email: string;
  connectors: string[] | null;
  signInAt: string | null;
}

export interface Routed {
  decisionId: string;
  connector: string;
  tool: string;
  caseId: string | null;
  agentName: string;
  status: string;
  createdAt: string;
  expiresAt: string;
}

/** A change of a request for the person. After a `gap` the page reads every request again. */
export interface LiveEvent {
  type: string;
  /** The status of the request from then on. */
  status: string;
  decisionId: string;
}

export interface Shown extends Routed {
  actionHash: string;
  caseVersion: string | null;
  quorum: number;
  principalId: string;
  permission: string;
  purpose: string | null;
  developerName: string;
  branding?: Branding;
  summary: string | null;
  arguments: Record<string, unknown>;
  /** All of the arguments: what the approval binds, and what may be other when the call is made. */
  parts: { path: string; binds: boolean }[];
  /** The tool and its arguments in the words of the manifest. */
  words: { title: string | null; description: string | null; arguments: { path: string; title: string }[] };
  canonical: string;
  /** The last approved call of the tool by the same agent for the same person. */
  lastApproved: { arguments: Record<string, unknown> } | null;
  /** The canonical text of the last decision about the case and the tool. */
  previous: string | null;
  firstApprover: string | null;
  mayDecide: boolean;
}

export interface Colleague {
  approverId: string;
  displayName: string;
  email: string;
}

export interface RoutedList {
  decisions: Routed[];
  nextCursor: string | null;
}

export interface Recovery extends Colleague {
  recoveryFrom: string;
}

export interface Colleagues {
  colleagues: Colleague[];
  deputies: Colleague[];
  recoveries: Recovery[];
}
