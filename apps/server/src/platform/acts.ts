/**
 * Every kind of act, with its data. Each feature declares its kinds in its `<noun>.acts.ts` and adds them to
 * this interface there. An act becomes an audit entry and an event.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the features fill it
export interface Acts {}

/**
 * Every kind of announcement: subscribers receive it, and the audit log does not. Features fill it as `Acts`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the features fill it
export interface Announcements {}

/** The subjects of an act: members of its audit entry, and of its event's data. */
export interface ActSubject {
  readonly developerId?: string;
  readonly agentId?: string;
  /** In the entry only. */
  readonly agentDid?: string;
  readonly grantId?: string;
  readonly principalId?: string;
  readonly purpose?: string | undefined;
}

/** A row, in the names of `ActSubject`: a grant's own id is its `grantId`. */
interface Concerning {
  readonly grantId?: string | null | undefined;
  readonly agentId: string;
  readonly agentDid?: string | null | undefined;
  readonly principalId: string;
  readonly purpose?: string | null | undefined;
}

/** The members of an act that name its subjects, without those that the row leaves empty. */
export function concerning({ grantId, agentId, agentDid, principalId, purpose }: Concerning): ActSubject {
  return {
    ...(grantId && { grantId }),
    agentId,
    ...(agentDid && { agentDid }),
    principalId,
    ...(purpose && { purpose }),
  };
}

/** An act that a caller did, stated once. Its audit entry and its event are made from it. */
export type Act = {
  [Type in keyof Acts]: ActSubject & {
    readonly type: Type;
    readonly data: Acts[Type];
    /** Facts that only the audit entry shows: the browser of a decision, the old and the new setting. */
    readonly evidence?: Readonly<Record<string, unknown>>;
  };
}[keyof Acts];

/** An event without an entry. */
export type Announcement = {
  [Type in keyof Announcements]: ActSubject & { readonly type: Type; readonly data: Announcements[Type] };
}[keyof Announcements];

/** Where an act of one kind is written. */
export interface Declared {
  /** Whether subscribers receive it. */
  readonly isEvent: boolean;
  /** Whether the audit log holds it. */
  readonly isEntry: boolean;
}

/** Actions whose refused attempts an operator watches. Each feature adds its own, as to `Acts`. */
// biome-ignore lint/suspicious/noEmptyInterface: the features fill it
export interface Attempts {}

/** Every kind of entry without an event that is no refused attempt, with its data. Features fill it as `Acts`. */
// biome-ignore lint/suspicious/noEmptyInterface: the features fill it
export interface Entries {}

declare const dataOf: unique symbol;

/** The declaration of one kind of act, which knows the type of its data. */
export interface DeclaredAct<Data> extends Declared {
  readonly [dataOf]?: Data;
}

/** Declarations by the type of the act: `agent.created`. */
export type DeclaredActs = Readonly<Record<string, Declared>>;

/** The data of each declared kind, for the interfaces `Acts` and `Announcements`. */
export type DataOf<Declarations> = {
  readonly [Type in keyof Declarations]: Declarations[Type] extends DeclaredAct<infer Data> ? Data : never;
};

/** An act that becomes an audit entry and an event. */
export const act = <Data extends object>(): DeclaredAct<Data> => ({
  isEvent: true,
  isEntry: true,
});

/** An event without an entry. */
export const announcement = <Data extends object>(): DeclaredAct<Data> => ({
  isEvent: true,
  isEntry: false,
});

/** An audit entry without an event, such as a refused attempt. */
export const entryOnly = (): Declared => ({ isEvent: false, isEntry: true });
