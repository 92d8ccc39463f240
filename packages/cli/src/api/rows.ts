/** A member of a body or a query. */
export interface Field {
  readonly name: string;
  /** `json` is everything that is no single value: it comes from a file. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'json';
  readonly required?: true;
  readonly about?: string;
  readonly values?: readonly string[];
  /** The largest value of an integer. */
  readonly most?: number;
}

/** An operation of the service, with all that its command needs to know. */
export interface OperationRow {
  readonly id: string;
  /** The method of the SDK, from the client on. */
  readonly method: string;
  /** The HTTP method, and the path with its parameters. */
  readonly sends: string;
  readonly summary: string;
  /** The parameters of the path. */
  readonly path: readonly string[];
  /** Members that the method takes as arguments of their own. */
  readonly first: readonly string[];
  /** Absent where the operation takes no body. An empty list is a body of any shape. */
  readonly body?: readonly Field[];
  readonly query?: readonly Field[];
  /** The credential, where it is not the API key. */
  readonly as?: string;
  /** The member of the answer that has the rows of a page. */
  readonly rows?: string;
  /** True where the answer may be a file. */
  readonly file?: true;
}
