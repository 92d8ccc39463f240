/**
 * Node's `http`. An `import` of it would also load Node's `fetch`, which takes some 45 ms of processor time and which
 * the service never calls.
 */
export const { Agent, ServerResponse, request } = process.getBuiltinModule('node:http');
