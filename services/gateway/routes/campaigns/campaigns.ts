import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { anyOf, page, pathUuid, size, text } from '../../http/request/fields.ts';
import { CampaignItem, CampaignPage, campaignStatuses } from '../../response-schemas/campaigns.ts';
import { actorOf, callerOf } from '../ingest-caller.ts';
import { campaignItem } from './campaign-json.ts';

export const CAMPAIGNS = '/external/api/v1/call-campaign';

const MAX_DESCRIPTION = 4096;
/** Canceling waits some seconds for the campaign's calls. */
const MOVE_MS = 30_000;

const dates = { starts_at: instant(), ends_at: instant() };
const description = text(MAX_DESCRIPTION);

const NewCampaign = z
  .strictObject({
    name: name(),
    external_id: text(255).optional(),
    description: description.optional(),
    segment_type: text(255).optional(),
    starts_at: dates.starts_at.optional(),
    ends_at: dates.ends_at.optional(),
  })
  .meta({ examples: [{ name: 'Spring renewals', external_id: 'crm-77', segment_type: 'sales' }] });

const Change = z
  .strictObject({
    name: name().optional(),
    description: description.nullable().optional(),
    starts_at: dates.starts_at.nullable().optional(),
    ends_at: dates.ends_at.nullable().optional(),
    external_id: fixed(),
    segment_type: fixed(),
  })
  .meta({ examples: [{ description: 'Clients whose contract ends in May.', ends_at: null }] });

const actions = {
  start: {
    summary: 'Start a campaign',
    description: 'From a draft, or after a pause. Calls can be uploaded from now on.',
  },
  pause: {
    summary: 'Pause a campaign',
    description: 'No calls can be uploaded; those that were taken in are processed.',
  },
  complete: { summary: 'Complete a campaign', description: 'For good. Calls that were taken in are still processed.' },
  cancel: {
    summary: 'Cancel a campaign',
    description: 'For good. Its queued calls are canceled; those that are being worked on come to their end.',
  },
} as const;

/** api.md, section 7: the campaigns themselves. Their calls are in campaign-calls.ts. */
export function campaigns(
  catalogue: Pick<
    Client<typeof ingest>,
    'createCampaign' | 'listCampaigns' | 'getCampaign' | 'changeCampaign' | 'moveCampaign'
  >,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: CAMPAIGNS,
      proof: 'api-key',
      body: NewCampaign,
      about: {
        tag: 'Campaigns',
        summary: 'Create a campaign',
        description:
          'It begins as a draft and takes calls once it is started. `segment_type` must be one of the firm’s; the calls keep their own. The dates are for people to read.',
        answers: { 201: { description: 'The campaign.', schema: CampaignItem } },
        refusals: ['EXTERNAL_ID_EXISTS'],
      },
      async handle({ caller, body, address }) {
        const made = await catalogue.createCampaign({ caller: actorOf(caller, address), ...body });
        return { status: 201, body: campaignItem(made) };
      },
    }),
    endpoint({
      method: 'GET',
      path: CAMPAIGNS,
      proof: 'api-key',
      query: z.strictObject({
        status: anyOf(z.enum(campaignStatuses)),
        external_id: text(255).optional(),
        page,
        size,
      }),
      about: {
        tag: 'Campaigns',
        summary: 'List campaigns',
        description: 'Newest first.',
        answers: { 200: { description: 'A page of campaigns.', schema: CampaignPage } },
      },
      async handle({ caller, query }) {
        const { count, items } = await catalogue.listCampaigns({ caller: callerOf(caller), ...query });
        return { status: 200, body: { count, items: items.map(campaignItem) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${CAMPAIGNS}/:uuid`,
      proof: 'api-key',
      about: {
        tag: 'Campaigns',
        summary: 'Get a campaign',
        answers: { 200: { description: 'The campaign.', schema: CampaignItem } },
      },
      async handle({ caller, params }) {
        const asked = { caller: callerOf(caller), campaign_uuid: campaignUuid(params['uuid']) };
        return { status: 200, body: campaignItem(await catalogue.getCampaign(asked)) };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${CAMPAIGNS}/:uuid`,
      proof: 'api-key',
      body: Change,
      about: {
        tag: 'Campaigns',
        summary: 'Change a campaign',
        description: 'While it is not finished. What is left out stays; null makes the description or a date unknown.',
        answers: { 200: { description: 'The campaign.', schema: CampaignItem } },
        refusals: ['INVALID_TRANSITION'],
      },
      async handle({ caller, params, body, address }) {
        const changed = await catalogue.changeCampaign({
          caller: actorOf(caller, address),
          campaign_uuid: campaignUuid(params['uuid']),
          ...given(body),
          clear: Object.entries(body).flatMap(([field, value]) => (value === null ? [field] : [])),
        });
        return { status: 200, body: campaignItem(changed) };
      },
    }),
    ...Object.entries(actions).map(([action, { summary, description }]) =>
      endpoint({
        method: 'POST',
        path: `${CAMPAIGNS}/:uuid/${action}`,
        proof: 'api-key',
        about: {
          tag: 'Campaigns',
          summary,
          description,
          answers: { 200: { description: 'The campaign.', schema: CampaignItem } },
          refusals: ['INVALID_TRANSITION'],
        },
        async handle({ caller, params, address }) {
          const asked = { caller: actorOf(caller, address), campaign_uuid: campaignUuid(params['uuid']), action };
          return { status: 200, body: campaignItem(await catalogue.moveCampaign(asked, { deadlineMs: MOVE_MS })) };
        },
      }),
    ),
  ];
}

export function campaignUuid(sent: string | undefined): string {
  return pathUuid(sent, 'campaign');
}

function name() {
  return z
    .string()
    .trim()
    .pipe(text(255))
    .meta({ wire: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$' } });
}

/** What a campaign keeps as it was made. */
function fixed() {
  return z
    .never('cannot be changed after creation')
    .optional()
    .meta({ wire: { not: {}, description: 'It cannot be changed after creation.' } });
}

/** A moment in the years 1 to 9999, as UTC. */
function instant() {
  return z.iso
    .datetime({ offset: true, error: 'must be a date and time with an offset, such as 2026-10-01T09:00:00+05:00' })
    .transform((text) => new Date(text))
    .refine((at) => at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999, 'must be in the years 1 to 9999')
    .transform((at) => at.toISOString())
    .meta({ wire: { type: 'string', format: 'date-time' } });
}

/** What is neither absent nor null. */
function given<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };
}
