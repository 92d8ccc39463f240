import { describe, expect, test } from 'vitest';
import { canonicalResource, isSameResource, namesResource } from './resource-uri.ts';

describe('agents K5: a resource', () => {
  test.each([
    ['https://mcp.example', 'https://mcp.example/'],
    ['https://mcp.example', 'HTTPS://MCP.Example'],
    ['https://mcp.example', 'https://mcp.example:443/'],
    ['https://mcp.example', 'https://mcp.example:'],
    ['http://127.0.0.1:8080', 'HTTP://127.0.0.1:8080/'],
    ['http://[::1]', 'http://[::1]:80/'],
    ['https://mcp.example/mcp', 'https://MCP.example:443/mcp'],
    ['https://mcp.example?a=1', 'https://mcp.example/?a=1'],
  ])('%s is %s', (one, other) => {
    expect(canonicalResource(other)).toBe(one);
    expect(canonicalResource(one)).toBe(one);
    expect(isSameResource(one, other)).toBe(true);
  });

  test.each([
    ['https://mcp.example/mcp', 'https://mcp.example/mcp/'],
    ['https://mcp.example/mcp', 'https://mcp.example/MCP'],
    ['https://mcp.example', 'https://mcp.example//'],
    ['https://mcp.example', 'http://mcp.example'],
    ['http://mcp.example', 'http://mcp.example:443'],
    ['https://mcp.example:4430', 'https://mcp.example'],
    ['https://mcp.example', 'https://mcp.example.'],
    ['https://mcp.example', 'https://mcp.example@evil.example'],
    ['https://mcp.example', 'https://mcp.example\\@evil.example'],
    ['Calendar', 'calendar'],
  ])('%s is not %s', (one, other) => {
    expect(isSameResource(one, other)).toBe(false);
  });

  test('is named by an audience or by one of a list, and by no part of a text', () => {
    const resource = 'https://mcp.example';

    expect(namesResource('https://mcp.example/', resource)).toBe(true);
    expect(namesResource(['calendar', 'HTTPS://mcp.example'], resource)).toBe(true);
    expect(namesResource([['https://mcp.example']], resource)).toBe(false);
    expect(namesResource('https://mcp.example https://other.example', resource)).toBe(false);
    for (const none of [undefined, null, 7, '', []]) expect(namesResource(none, resource)).toBe(false);
  });
});
