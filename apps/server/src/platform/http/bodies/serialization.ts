import fastJson from 'fast-json-stringify';

type Serializer = (answer: unknown) => string;

/**
 * By the schema's text, because most refusals share a few shapes. A shape is compiled at its first answer: each takes
 * about a millisecond, and a process answers in few of them.
 */
const serializers = new Map<string, Serializer>();
/** By the schema itself, which outlives an app and takes long to write as text. */
const serializersBySchema = new WeakMap<object, Serializer>();

/** Fastify's own compiler, except that routes with the same shape share the compiled function. */
export const compileSerializer = ({ schema }: { schema: object }): Serializer => {
  let serializer: Serializer | undefined;
  return (answer) => {
    serializer ??= serializerOf(schema);
    return serializer(answer);
  };
};

function serializerOf(schema: object): Serializer {
  const known = serializersBySchema.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema);
  const serializer: Serializer = serializers.get(text) ?? fastJson(JSON.parse(text));
  serializers.set(text, serializer);
  serializersBySchema.set(schema, serializer);
  return serializer;
}
