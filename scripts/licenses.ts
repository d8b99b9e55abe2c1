// npm run licenses: fails when a package that production installs has a licence that is not listed here.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

/** Licences that allow use in a product whose source is not published. */
const ALLOWED = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Zlib',
  'Unlicense',
  'Python-2.0',
]);

/** Packages with another licence, or whose package.json names none, and why they may be used. */
const REVIEWED: Readonly<Record<string, string>> = {
  'codec-parser': 'LGPL-3.0: used unchanged and as a package of its own, so it can be replaced.',
  ibantools: 'MIT or MPL-2.0, at the choice of the user.',
  busboy: 'MIT, in its LICENSE file.',
  streamsearch: 'MIT, in its LICENSE file.',
  ssh2: 'MIT, in its LICENSE file.',
  'cpu-features': 'MIT, in its LICENSE file.',
  buildcheck: 'MIT, in its LICENSE file.',
};

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly { expression?: string; license?: { id?: string; name?: string } }[];
}

const directory = mkdtempSync(join(tmpdir(), 'licenses-'));
const out = join(directory, 'sbom.json');
try {
  const { status, stderr } = spawnSync(
    'npx',
    [
      '--yes',
      manifest.config.pnpm,
      'sbom',
      '--sbom-format',
      'cyclonedx',
      '--sbom-type',
      'application',
      '--prod',
      '--out',
      out,
    ],
    { encoding: 'utf8', shell: process.platform === 'win32' },
  );
  if (status !== 0) throw new Error(`pnpm sbom failed: ${stderr}`);
  const { components } = JSON.parse(readFileSync(out, 'utf8')) as { components: Component[] };
  const refused = components.filter(({ group }) => group !== '@call-analysis').filter((each) => !isAllowed(each));
  for (const each of refused) {
    const name = each.group === undefined ? each.name : `${each.group}/${each.name}`;
    console.log(`${name} ${each.version}: ${licenceOf(each) || 'no licence named'}`);
  }
  console.log(`${components.length} packages, ${refused.length} with a licence that was not reviewed.`);
  if (refused.length > 0) {
    console.log('Replace these packages, or add them to REVIEWED in scripts/licenses.ts with the reason.');
    process.exitCode = 1;
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function licenceOf({ licenses = [] }: Component): string {
  return licenses.map(({ expression, license }) => expression ?? license?.id ?? license?.name ?? '').join(' OR ');
}

/** Whether one alternative of the SPDX expression consists of allowed licences only. */
function isAllowed(component: Component): boolean {
  if (component.name in REVIEWED) return true;
  const alternatives = licenceOf(component).replaceAll(/[()]/g, '').split(' OR ');
  return alternatives.some((each) => each.split(' AND ').every((licence) => ALLOWED.has(licence.trim())));
}
