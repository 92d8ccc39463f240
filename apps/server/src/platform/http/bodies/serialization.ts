import fastJson from 'fast-json-stringify';

type Serializer = (answer: unknown) => string;

/**
 * By the schema's text. Most refusals share a few shapes, and compiling a shape takes about a millisecond.
 */
const serializers = new Map<string, Serializer>();
/** By the schema itself, which outlives an app and takes long to write as text. */
const serializersBySchema = new WeakMap<object, Serializer>();

/** Fastify's own compiler, except that routes with the same shape share the compiled function. */
export const compileSerializer = ({ schema }: { schema: object }): Serializer => {
  const serializer = serializersBySchema.get(schema) ?? serializerOf(JSON.stringify(schema));
  serializersBySchema.set(schema, serializer);
  return serializer;
};

function serializerOf(text: string): Serializer {
  const serializer: Serializer = serializers.get(text) ?? fastJson(JSON.parse(text));
  serializers.set(text, serializer);
  return serializer;
}
