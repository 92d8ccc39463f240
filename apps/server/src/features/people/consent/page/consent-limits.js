/** @import { ArgumentLimits, ConsentRequest, Manifest } from './types.js' */
import { aside, element, literal, mention, name, paragraph } from '../../../../platform/page/dom.js';
import { fill } from '../../../../platform/page/format.js';
import { words } from './consent-words.js';

/** Enough to compare with what the developer publishes, and short enough to read out. */
const SHOWN_DIGITS = 16;

/**
 * The limits on what the agent may pass to tools, and the descriptions under which the person agrees.
 * @param {ConsentRequest} request
 */
export function renderLimits({ argumentLimits = [], manifests = [], developerName }) {
  return [
    argumentLimits.map(renderArguments),
    manifests.map((manifest) => renderManifest(manifest, developerName)),
  ].flat();
}

/** @param {ArgumentLimits} limits */
function renderArguments({ connector, tool, open, lines }) {
  const { onlyIf, argument, nothingElse, anythingElse } = words.tools;
  const items = lines.map(({ path, text }) =>
    element('li', {}, fill(argument, { path: name(path), text: name(text, 'words') })),
  );
  const called = [literal(tool), ' (', literal(connector), ')'];
  return element(
    'div',
    { class: 'group limits' },
    element('h3', {}, fill(onlyIf, { tool: element('span', {}, called) })),
    element('ul', {}, items),
    paragraph(open ? element('strong', {}, anythingElse) : nothingElse),
  );
}

/**
 * @param {Manifest} manifest
 * @param {string} developerName
 */
function renderManifest({ connector, version, sha256, pinned }, developerName) {
  const { manifest, noManifest } = words.tools;
  if (version === null || sha256 === null) {
    return aside(fill(noManifest, { developer: mention(developerName), connector: literal(connector) }));
  }
  const values = {
    connector: literal(connector),
    version: literal(version),
    sha256: literal(sha256.slice(0, SHOWN_DIGITS)),
  };
  return aside(fill(manifest, values), pinned && ` ${words.tools.pinned}`);
}
