/** The fields of one frame. A comment has none of these. */
export interface Frame {
  readonly event?: string;
  readonly data?: string;
}

const MAX_WAITING = 1_048_576; // characters; the service sends one event in a frame

/**
 * Divides a stream of server-sent events into frames, as far as the service uses the format.
 *
 * @see the HTML standard, section 9.2.6
 */
export async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const frames = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n\n');
    rest = frames.pop() ?? '';
    if (rest.length > MAX_WAITING) throw new Error('A frame of the stream is too long.');
    for (const frame of frames) yield frameIn(frame);
  }
}

function frameIn(text: string): Frame {
  const fields = text.split('\n').map((line) => /^([^:]*): ?(.*)$/.exec(line) ?? []);
  const fieldOf = (wanted: string) => fields.find(([, name]) => name === wanted)?.[2];
  const [event, data] = [fieldOf('event'), fieldOf('data')];
  return { ...(event !== undefined && { event }), ...(data !== undefined && { data }) };
}
