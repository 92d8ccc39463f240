import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { entriesOf } from '../app/flow.ts';
import {
  boxesWithin,
  button,
  findings,
  hasNo,
  heading,
  inPseudoLanguage,
  must,
  scrollsSideways,
  sees,
} from './pages.ts';
import {
  agentOf,
  answer,
  grant,
  grantMore,
  isGood,
  openAll,
  openPermissions,
  permissionPages,
} from './permissions-page/permissions.ts';

const { approve, linkFor, visit } = permissionPages();

test('the page shows each grant in words and exactly, delegated grants below it, and no other person’s grants', async () => {
  const { developer, booker } = await approve();
  await grant(developer, 'Stranger', { principalId: 'user_43' });
  const page = await visit();

  await openPermissions(page, await linkFor(developer));
  const lines = await agentOf(page, 'Travel booker').locator('> .grant > ul > li').allInnerTexts();
  const closed = await page.locator('main').innerText();
  await openAll(page);
  const shown = await agentOf(page, 'Travel booker').first().innerText();
  const helper = await agentOf(page, 'Travel booker').locator('.agent').innerText();
  const all = await page.locator('main').innerText();

  expect(lines).toEqual(['Send email in your name', 'Read your calendar']);
  expect(closed).not.toMatch(/calendar:read|Calendar helper|did:web/);
  for (const text of ['Read your calendar', 'calendar:read', 'email:send', booker.did]) {
    expect(shown).toContain(text);
  }
  expect(helper).toContain('Calendar helper');
  expect(helper).not.toContain('email:send');
  expect(all).toContain('For user_42');
  expect(all).toContain('Mail reader');
  expect(all).toContain('This is a test account.');
  expect(all).not.toContain('Stranger');
});

test('ending one grant ends the grants delegated from it, and leaves the others', async () => {
  const { developer, booker, reader, helper } = await approve();
  const page = await visit();

  await openPermissions(page, await linkFor(developer));
  await button(page, 'End what Travel booker may do').click();
  await sees(page, 'Another agent loses what this agent passed on to it.');
  await answer(page, 'End it');
  await sees(page, 'Ended, with all that was passed on.');

  const good = await Promise.all([booker, helper, reader].map((it) => isGood(developer, it.grantToken)));
  expect(good).toEqual([false, false, true]);
  await hasNo(agentOf(page, 'Calendar helper'));
  const entries = await entriesOf(developer, 'grant.revoked');
  expect(entries.map(({ grantId, metadata }) => [grantId, metadata.reason, metadata.revokedBy])).toEqual([
    [booker.grantId, 'principal', 'principal'],
    [helper.grantId, 'parent', 'principal'],
  ]);
});

describe('in other languages', { timeout: 120_000 }, () => {
  /** These tests open many pages, on a machine that may be busy. */
  const SLOW = 40_000;

  const phone = { viewport: { width: 390, height: 844 }, bypassCSP: true } as const; // for axe
  const limits = {
    ...{ type: 'urn:service:tools:v1', connector: 'stripe', tools: ['refund'] },
    arguments: { refund: { '/amount': { max: '500' } } },
  };
  const far = ['email:send', 'posts:publish', 'rooms:book', 'tool:stripe:write'];
  const near = ['files', 'photos', 'notes', 'tasks', 'orders'].map((what) => `${what}:read`);

  /** One agent that may much, also spend, and another to which it has passed something on. */
  async function travelled() {
    const { developer, booker } = await approve();
    await must(developer, 'PATCH', '/v1/me', { name: 'Acme Travel' });
    const rich = { scopes: [...far, ...near], budget: { amount: '1200.50', currency: 'EUR' } };
    await grantMore(developer, booker.agentId, { ...rich, authorizationDetails: [limits], expiresIn: '30d' });
    return { developer, booker };
  }
  /** The signs around a text of the pseudo-language keep a label from being a part of its longer name. */
  const faultsOf = async (page: Page) =>
    (await findings(page)).filter((fault) => Object(fault).id !== 'label-content-name-mismatch');
  const speaking = (link: string, language: string) =>
    link.replace('/permissions', `/permissions?ui_locales=${language}`);

  test('the page lists permissions in the language of its link, with the money, times and counts of that language', async () => {
    const { developer, booker } = await travelled();
    const page = await visit(phone);

    for (const [language, title, end, money, permission, until, more] of [
      [
        'de',
        'Ihre Berechtigungen',
        'Beenden',
        /^1\.200,50\s€ von /,
        'In Ihrem Namen senden: email',
        /1\. Apr/,
        '5 weitere Berechtigungen',
      ],
      [
        'fr',
        'Vos autorisations',
        'Révoquer',
        /^1\s200,50\s€ restants sur /,
        'Envoyer en votre nom : email',
        /1 avr/,
        '5 autres autorisations',
      ],
      [
        'es',
        'Sus permisos',
        'Revocar',
        /^Quedan 1\.?200,50\s€ de /,
        'Enviar en su nombre: email',
        /1 abr/,
        '5 permisos más',
      ],
      [
        'pt-BR',
        'Suas permissões',
        'Revogar',
        /^Restam €\s1\.200,50 de /,
        'Enviar em seu nome: email',
        /1 de abr/,
        'mais 5 permissões',
      ],
      [
        'ja',
        'あなたが与えた権限',
        '取り消す',
        /^残り€1,200\.50/,
        'あなたの名前での送信：email',
        /4月1日/,
        'ほか5件の権限',
      ],
    ] as const) {
      await page.goto(speaking(await linkFor(developer), language));
      await heading(page, title).waitFor({ timeout: SLOW });
      const card = agentOf(page, 'Travel booker').first();
      const rich = card.locator('.grant').filter({ has: page.locator('> .headline') });

      expect(await page.locator('html').getAttribute('lang')).toBe(language);
      expect(await card.locator('> .title button').innerText()).toBe(end);
      expect(await rich.locator('.headline').innerText()).toMatch(money);
      expect(await rich.locator('> ul > li').allInnerTexts()).toContain(permission);
      expect(await rich.locator('.status > summary').innerText()).toMatch(until);
      await sees(page, more);
      expect(await scrollsSideways(page)).toBe(false);
    }
    expect(await findings(page)).toEqual([]);
    await button(page, 'Travel bookerの権限を取り消す').click();
    await sees(page, 'Travel bookerの権限を取り消しますか？');
    await sees(page, '2件の権限がすべて取り消されます。');
    await answer(page, '取り消す');
    await sees(page, '引き継がれた権限も含めて取り消しました。');
    expect(await isGood(developer, booker.grantToken)).toBe(false);
  });

  test.each(['ltr', 'rtl'] as const)(
    'the page holds where texts are longer by 40 %%, written %s',
    async (dir) => {
      const { developer } = await travelled();
      const page = await visit(phone);
      await inPseudoLanguage(page, '**/permissions?**', dir);
      await page.goto(speaking(await linkFor(developer), 'de'));
      await heading(page, /Your permissions/).waitFor({ timeout: SLOW });

      await openAll(page);
      expect(await scrollsSideways(page)).toBe(false);
      const name = await page.locator('.agent h2').first().boundingBox();
      const end = await page.locator('.agent .title button').first().boundingBox();
      expect((name?.x ?? 0) < (end?.x ?? 0)).toBe(dir === 'ltr');
      expect(await faultsOf(page)).toEqual([]);
      await page.locator('article > .title button').click();
      await boxesWithin(page, 'dialog button');
      expect(await scrollsSideways(page)).toBe(false);
      expect(await faultsOf(page)).toEqual([]);
    },
  );
});
