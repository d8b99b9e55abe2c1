import { Readiness } from '@call-analysis/runtime';
import { expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { type Backends, endpointsOf } from '../gateway.ts';
import { openApiDocument } from './document.ts';

it('the OpenAPI document passes the recommended rules of Redocly', async () => {
  const endpoints = endpointsOf({}, {} as Backends, new Readiness([]));
  const problems = await lintFromString({
    source: JSON.stringify(openApiDocument(endpoints)),
    config: await createConfig({ extends: ['recommended'] }),
  });
  const warnings = problems.map(({ severity, ruleId, message }) => `${severity}: ${ruleId}: ${message}`);
  // The interface fixes the paths. Literal segments have precedence over parameters, as the router has it.
  const ambiguous = warnings.filter((text) => text.startsWith('warn: no-ambiguous-paths: '));
  expect(warnings.filter((text) => !ambiguous.includes(text)).sort()).toEqual([
    'warn: info-license: Info object should contain `license` field.',
    // Responses to methods that a path does not have belong to no operation.
    'warn: no-unused-components: Component: "MethodNotAllowed" is never used.',
    // GET / redirects to the console.
    'warn: operation-2xx-response: Operation must have at least one `2XX` response.',
  ]);
  for (const warning of ambiguous) expect(warning).toMatch(/`\/[^`]*\/(?:rejected|batches)\/\{/);
});
