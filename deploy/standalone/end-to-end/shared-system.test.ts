import { openCollector } from '@call-analysis/testing';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { describeCalls } from './test/calls.ts';
import { describeCampaigns } from './test/campaigns.ts';
import { describeDesk } from './test/desk.ts';
import { describeErasing } from './test/erasing.ts';
import { describeMetrics } from './test/metrics.ts';
import { describeOpenapi } from './test/openapi.ts';
import { describePeople } from './test/people.ts';
import { describeRoles } from './test/roles.ts';
import { describeScorecards } from './test/scorecards.ts';
import { describeTraces } from './test/traces.ts';
import { describeWebhooks } from './test/webhooks.ts';

// One system for all suites that change no settings and measure no memory: starting six processes takes longer than most of
// these suites. Each suite has its own firms. To run one of them: -t 'scorecards'.
let collector: Awaited<ReturnType<typeof openCollector>>;
let system: SystemUnderTest;

beforeAll(async () => {
  collector = await openCollector();
  system = await startSystemUnderTest({
    LOG_LEVEL: 'info',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc',
    // Webhooks of the tests lead to this machine.
    WEBHOOK_ALLOW_PRIVATE: 'true',
  });
});
afterAll(async () => {
  await system?.stop();
  await collector.close();
});

const running = () => system;

// First, while nothing else of the system moves its counters.
describe('metrics', () => describeMetrics(running));
describe('scorecards', () => describeScorecards(running));
describe('calls', () => describeCalls(running));
describe('campaigns', () => describeCampaigns(running));
describe('people', () => describePeople(running));
describe('desk', () => describeDesk(running));
describe('roles', () => describeRoles(running));
describe('openapi', () => describeOpenapi(running));
describe('traces', () => describeTraces(running, () => collector));
// Last, because these kill processes.
describe('webhooks', () => describeWebhooks(running));
describe('erasing', () => describeErasing(running));
