/** What a method takes beside its arguments. */
export interface CallOptions {
  /** Ends the call, and a wait between two attempts. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each attempt. Default: the client's. */
  readonly timeout?: number | undefined;
  /** Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Names the request. Default: a random key for each call. */
  readonly idempotencyKey?: string | undefined;
  /** More headers. None of these takes the place of a credential. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The SCIM token for a call of `scim`. Default: the client's own key. */
  readonly scimToken?: string | undefined;
  /** Proves possession of the key that a token is bound to. */
  readonly dpop?: ProofKey | undefined;
}

/** A key that signs DPoP proofs: `createDpopKey()`. */
export interface ProofKey {
  proof(method: string, url: string, more?: { accessToken?: string; nonce?: string }): Promise<string>;
}

/** A page, and every row of it and of the pages after it: `for await (const row of list)`. */
export type List<Answer, Row> = Promise<Answer & AsyncIterable<Row>> & AsyncIterable<Row>;

/** How a method calls its operation. */
export interface CallRow {
  readonly method: string;
  /** The HTTP method, and the path with its parameters. */
  readonly sends: string;
  /** Members of the body or the query that are arguments of their own. */
  readonly first?: readonly string[];
  readonly takes?: 'body' | 'query' | 'both';
  /** The credential. Default: the client's API key. */
  readonly as?: string;
  /** True for a `POST` that changes nothing. */
  readonly reads?: true;
  /** True where the service takes an idempotency key. */
  readonly keyed?: true;
  /** True where the answer may be something else than JSON. */
  readonly file?: true;
  /** The member of the answer that has the rows of a page. */
  readonly rows?: string;
  /** True where the answer is the rows themselves, and its header `Link` names the page after it. */
  readonly linked?: true;
  readonly byHand?: true;
}
