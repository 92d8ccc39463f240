import { type CopiedObject, copyObject } from '../arguments/copy-json.ts';
import { copyArguments } from '../arguments/read-arguments.ts';

/** The widest bounds of all checks, because an action may nest its arguments deeper than rules may. */
const BOUNDS = { levels: 63, bytes: 65_536, takesNul: true, takesLarge: false };

/**
 * The arguments of one call. They are copied before the engine first waits, so that the holder of the object cannot
 * change it between two checks. A call that never waits costs no copy here.
 */
export class GivenArguments {
  readonly #given: unknown;
  #held: CopiedObject | undefined;

  constructor(given: unknown) {
    this.#given = given;
  }

  /** False when the caller gave none, which is not the same as `{}`. */
  get areGiven(): boolean {
    return this.#given !== undefined;
  }

  /** Copies the arguments now. */
  hold(): void {
    if (this.areGiven) this.#held ??= copyObject(this.#given, BOUNDS);
  }

  /** Waits for an answer over a copy. */
  over<Answer>(waiting: Promise<Answer>): Promise<Answer> {
    this.hold();
    return waiting;
  }

  /** The arguments as rules take them. */
  forRules(): CopiedObject {
    if (!this.#held) return copyArguments(this.#given);
    return this.#held.ok ? copyArguments(this.#held.value) : this.#held;
  }

  /** The arguments as an action takes them; undefined when there are none that it could take. */
  forAction(): unknown {
    this.hold();
    return this.#held?.ok ? this.#held.value : undefined;
  }
}
