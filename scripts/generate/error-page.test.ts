import { expect, test } from 'vitest';
import { errorPage } from './error-page.ts';

test('codes are grouped by status, each with an anchor, and a bar in a text breaks no table', () => {
  const page = errorPage(
    {
      GONE: { status: 410, meaning: 'It was here.' },
      BAD_REQUEST: { status: 400, meaning: 'One of a|b.' },
      INVALID_SCOPE: { status: 400, meaning: 'No scope.' },
    },
    { code_used: 'The code was used.' },
  );

  expect(page.slice(page.indexOf('## 400'))).toBe(`## 400

| Code | Meaning and remedy |
| --- | --- |
| <a id="bad_request"></a>\`BAD_REQUEST\` | One of a\\|b. |
| <a id="invalid_scope"></a>\`INVALID_SCOPE\` | No scope. |

## 410

| Code | Meaning and remedy |
| --- | --- |
| <a id="gone"></a>\`GONE\` | It was here. |

## Reasons of INVALID_GRANT

\`details.reason\` is one of these.

| Reason | Meaning and remedy |
| --- | --- |
| \`code_used\` | The code was used. |
`);
});
