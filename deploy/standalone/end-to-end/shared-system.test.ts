import { afterAll, beforeAll, describe } from '@jest/globals';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { describeCalls } from './test/calls.ts';
import { describeCampaigns } from './test/campaigns.ts';
import { describeDesk } from './test/desk.ts';
import { describeMetrics } from './test/metrics.ts';
import { describeOpenapi } from './test/openapi.ts';
import { describePeople } from './test/people.ts';
import { describeRoles } from './test/roles.ts';
import { describeScorecards } from './test/scorecards.ts';

// One system for all suites that kill nothing, change no settings and measure no memory: starting six processes takes
// longer than most of these suites. Each suite has its own firms. To run one of them: -t 'scorecards'.
let system: SystemUnderTest;

beforeAll(async () => {
  // Webhooks of the tests lead to this machine.
  system = await startSystemUnderTest({ WEBHOOK_ALLOW_PRIVATE: 'true' });
});
afterAll(() => system?.stop());

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
