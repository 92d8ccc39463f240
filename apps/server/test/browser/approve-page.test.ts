import { describe, expect, test } from 'vitest';
import { payer, release } from '../app/approving.ts';
import type { Developer } from '../app/start-app.ts';
import {
  boxesWithin,
  brand,
  brandOn,
  button,
  findings,
  heading,
  inPseudoLanguage,
  must,
  pagesOfService,
  scrollsSideways,
  sees,
} from './pages.ts';
import { enrolledAs } from './passkeys.ts';

const { visit, service } = pagesOfService();
const enrolled = enrolledAs(visit);

test('R10: two people with two authenticators see the exact call, sign it, and it runs once', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const [ada, bob] = [await enrolled(acme, 'Ada'), await enrolled(acme, 'Bob')];
  const args = { ...release.arguments, currency: 'EUR', note: 'a\u202eb' };
  const asked = (await agent.ask({ ...release, arguments: args, summary: 'Pay the rent' })).json();
  expect((await agent.enforce({ ...release, arguments: args })).sub_reason).toBe(null);

  await sees(ada, /wants to use wire of acme_bank/);
  expect(await findings(ada)).toEqual([]);
  await button(ada, 'The call').click();
  await heading(ada, /asks to use/).waitFor();
  await sees(ada, '9,000 EUR');
  await ada.getByText('Details').click();
  await sees(ada, '"amount": "9000"');
  await sees(ada, 'U+202E');
  await sees(ada, 'Pay the rent');
  expect(await findings(ada)).toEqual([]);
  const hash = (await ada.locator('#hash').innerText()).replaceAll(' ', '');
  expect(`sha256:${hash}`).toBe(asked.actionHash);
  await button(ada, 'Approve').click();
  await heading(ada, 'You approved the call').waitFor();
  await sees(ada, 'A second person has to approve');

  await brand(acme);
  await bob.goto(asked.url);
  await heading(bob, /asks to use/).waitFor();
  await sees(bob, 'A second person has to approve it too.');
  expect(await brandOn(bob, 'Approve')).toEqual({
    logo: [96, 32, true],
    name: 'Acme',
    fill: 'rgb(122, 31, 92)',
  });
  await button(bob, 'Approve').click();
  await sees(bob, 'The agent can make exactly this call now, once.');

  const decisionGrants = await agent.grantsOf(asked.decisionId);
  const call = { ...release, arguments: args, decisionGrants };
  expect(await agent.enforce(call)).toMatchObject({ allowed: true });
  expect(await agent.enforce(call)).toMatchObject({ allowed: false, sub_reason: 'consumed' });
});

describe('in other languages', { timeout: 120_000 }, () => {
  /** These tests open many pages, on a machine that may be busy. */
  const SLOW = 40_000;

  /** A call of many arguments waits for a person with a phone. */
  async function waiting(acme: Developer) {
    const agent = await payer(acme);
    const ada = await enrolled(acme, 'Ada');
    await ada.setViewportSize({ width: 390, height: 844 });
    const rows = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`row${at}`, at]));
    const args = {
      amount: '9000.50',
      currency: 'EUR',
      to: 'Acme Rent GmbH',
      due: '2026-04-01T10:30:00Z',
      rows,
    };
    const { decisionId } = (await agent.ask({ arguments: args })).json();
    const at = (language: string) => `${service().url}/approve?ui_locales=${language}#decision=${decisionId}`;
    return { ada, at, decisionId };
  }

  test('the page asks in the language of its link, with the money, times and counts of that language', async () => {
    const acme = await service().asDeveloper({ mode: 'sandbox' });
    const { ada, at, decisionId } = await waiting(acme);

    for (const [language, title, buttons, money, due, more] of [
      [
        'de',
        /möchte pay verwenden$/,
        ['Ablehnen', 'Genehmigen'],
        /^9\.000,50 EUR an /,
        'Apr',
        /^Noch \d+ Zeilen ansehen$/,
      ],
      [
        'fr',
        /demande à utiliser pay$/,
        ['Refuser', 'Approuver'],
        /^9\s000,50 EUR à /,
        'avr',
        /^Encore \d+ lignes à voir$/,
      ],
      [
        'es',
        /pide usar pay$/,
        ['Rechazar', 'Aprobar'],
        /^9\.?000,50 EUR a /,
        'abr',
        /^Faltan \d+ líneas por ver$/,
      ],
      [
        'pt-BR',
        /pede para usar pay$/,
        ['Recusar', 'Aprovar'],
        /^9\.000,50 EUR para /,
        'abr',
        /^Faltam ver \d+ linhas$/,
      ],
      ['ja', /がpayの使用を求めています$/, ['拒否', '承認'], /に9,000\.50 EUR$/, '4月', /^あと\d+行を確認$/],
    ] as const) {
      await ada.goto('about:blank');
      await ada.goto(at(language));
      await heading(ada, title).waitFor({ timeout: SLOW });

      expect(await ada.locator('html').getAttribute('lang')).toBe(language);
      expect(await ada.locator('.decide button').allInnerTexts()).toEqual(buttons);
      expect(await ada.locator('.headline').innerText()).toMatch(money);
      expect(await ada.locator('#call > div', { hasText: 'due' }).innerText()).toContain(due);
      expect(await ada.locator('.more').innerText()).toMatch(more);
      expect(await scrollsSideways(ada)).toBe(false);
      await boxesWithin(ada, '.decide button');
    }
    expect(await findings(ada)).toEqual([]);
    await button(ada, '拒否').click();
    await heading(ada, '呼び出しを拒否しました').waitFor({ timeout: SLOW });
    expect((await must(acme, 'GET', `/v1/decisions/${decisionId}`)).status).toBe('denied');
  });

  test.each(['ltr', 'rtl'] as const)(
    'the page holds where texts are longer by 40 %%, written %s',
    async (dir) => {
      const { ada, at } = await waiting(await service().asDeveloper({ mode: 'sandbox' }));
      await inPseudoLanguage(ada, '**/approve?**', dir);
      await ada.goto(at('de'));
      await heading(ada, /asks to use/).waitFor({ timeout: SLOW });
      await ada.locator('#details > summary').click();
      expect(await scrollsSideways(ada)).toBe(false);
      const [deny, approve] = await boxesWithin(ada, '.decide button');
      expect((deny?.x ?? 0) < (approve?.x ?? 0)).toBe(dir === 'ltr');
      expect(await findings(ada)).toEqual([]);
      await ada.locator('article > .buttons button').click();
      await heading(ada, /Calls that wait for you/).waitFor({ timeout: SLOW });
      expect(await scrollsSideways(ada)).toBe(false);
      expect(await findings(ada)).toEqual([]);
    },
  );
});
