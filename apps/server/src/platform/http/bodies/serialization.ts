import fastJson from 'fast-json-stringify';

type Serializer = (answer: unknown) => string;

/** By the schema's text. Most refusals have one of a few shapes, and to compile one takes about a millisecond. */
const serializers = new Map<string, Serializer>();
/** By the schema itself, which outlives an app and takes long to write as text. */
const serializersBySchema = new WeakMap<object, Serializer>();

/** As Fastify's own, but that two routes with the same shape share what is compiled of it. */
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
