import { CampaignItem, CampaignPage, CampaignStatus } from '@call-analysis/api/campaigns';
import { anyOf, name, page, size, text, written } from '@call-analysis/api/fields';
import { z } from 'zod';
import type { Endpoint } from '../../http/endpoint.ts';
import { actorOf, answered, callerOf, servedBy, type Services } from '../rpc-caller.ts';

export const CAMPAIGNS = '/external/api/v1/call-campaign';

const MAX_DESCRIPTION = 4096;
/** Canceling waits a few seconds for the campaign's calls. */
const MOVE_MS = 30_000;

const dates = { starts_at: instant(), ends_at: instant() };
const description = written(MAX_DESCRIPTION);

const NewCampaign = z
  .strictObject({
    name: name(255),
    external_id: written(255).optional(),
    description: description.optional(),
    segment_type: text(255).optional(),
    starts_at: dates.starts_at.optional(),
    ends_at: dates.ends_at.optional(),
  })
  .meta({
    id: 'CreateCampaignRequest',
    examples: [{ name: 'Spring renewals', external_id: 'crm-77', segment_type: 'sales' }],
  });

const Change = z
  .strictObject({
    name: name(255).optional(),
    description: description.nullable().optional(),
    starts_at: dates.starts_at.nullable().optional(),
    ends_at: dates.ends_at.nullable().optional(),
    external_id: fixed(),
    segment_type: fixed(),
  })
  .meta({
    id: 'ChangeCampaignRequest',
    examples: [{ description: 'Clients whose contract ends in May.', ends_at: null }],
  });

const actions = {
  start: {
    id: 'startCampaign',
    summary: 'Start a campaign',
    description: 'Starts a draft or continues a paused campaign. Calls can be uploaded while it is active.',
  },
  pause: {
    id: 'pauseCampaign',
    summary: 'Pause a campaign',
    description: 'No calls can be uploaded while it is paused. Calls that were accepted are still processed.',
  },
  complete: {
    id: 'completeCampaign',
    summary: 'Complete a campaign',
    description: 'Permanent. Calls that were accepted are still processed.',
  },
  cancel: {
    id: 'cancelCampaign',
    summary: 'Cancel a campaign',
    description: 'Permanent. Its queued calls are canceled. Calls in progress are still processed.',
  },
} as const;

/** docs/api.md, "Campaigns". Their calls are in campaign-calls.ts. */
export function campaigns({ ingest }: Services): Endpoint[] {
  const endpoint = servedBy(ingest, { tag: 'Campaigns', credentials: 'api-key' });
  return [
    endpoint({
      method: 'POST',
      path: CAMPAIGNS,
      body: NewCampaign,
      id: 'createCampaign',
      summary: 'Create a campaign',
      description:
        'A new campaign is a draft and accepts calls after it is started. `segment_type` must be one of the firm’s; calls keep their own. The dates are informational.',
      responses: { 201: { description: 'The campaign.', schema: CampaignItem } },
      errors: ['EXTERNAL_ID_EXISTS'],
      async handle({ caller, body, address }) {
        const created = await ingest.createCampaign({ caller: actorOf(caller, address), ...body });
        return answered(created);
      },
    }),
    endpoint({
      method: 'GET',
      path: CAMPAIGNS,
      query: z.strictObject({
        status: anyOf(CampaignStatus),
        external_id: text(255).optional(),
        page,
        size,
      }),
      id: 'listCampaigns',
      summary: 'List campaigns',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of campaigns.', schema: CampaignPage } },
      async handle({ caller, query }) {
        return answered(await ingest.listCampaigns({ caller: callerOf(caller), ...query }));
      },
    }),
    endpoint({
      method: 'GET',
      path: `${CAMPAIGNS}/:uuid`,
      id: 'getCampaign',
      summary: 'Get a campaign',
      responses: { 200: { description: 'The campaign.', schema: CampaignItem } },
      async handle({ caller, params }) {
        const campaign = { caller: callerOf(caller), campaign_uuid: params.uuid };
        return answered(await ingest.getCampaign(campaign));
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${CAMPAIGNS}/:uuid`,
      body: Change,
      id: 'changeCampaign',
      summary: 'Change a campaign',
      description:
        'Only while it is not finished. Fields that are left out stay as they are. Null clears the description or a date.',
      responses: { 200: { description: 'The campaign.', schema: CampaignItem } },
      errors: ['INVALID_TRANSITION'],
      async handle({ caller, params, body, address }) {
        const changed = await ingest.changeCampaign({
          caller: actorOf(caller, address),
          campaign_uuid: params.uuid,
          ...present(body),
          clear: Object.entries(body).flatMap(([field, value]) => (value === null ? [field] : [])),
        });
        return answered(changed);
      },
    }),
    ...Object.entries(actions).map(([action, { id, summary, description }]) =>
      endpoint({
        method: 'POST',
        path: `${CAMPAIGNS}/:uuid/${action}`,
        lane: 'uploads',
        id,
        summary,
        description,
        responses: { 200: { description: 'The campaign.', schema: CampaignItem } },
        errors: ['INVALID_TRANSITION'],
        async handle({ caller, params, address }) {
          const move = { caller: actorOf(caller, address), campaign_uuid: params.uuid, action };
          return answered(await ingest.moveCampaign(move, { deadlineMs: MOVE_MS }));
        },
      }),
    ),
  ];
}

/** A field that is set at creation and cannot be changed. */
function fixed() {
  return z
    .never('cannot be changed after creation')
    .optional()
    .meta({ documentedAs: { not: {}, description: 'It cannot be changed after creation.' } });
}

/** A time in the years 1 to 9999, converted to UTC. */
function instant() {
  return z.iso
    .datetime({ offset: true, error: 'must be a date and time with an offset, such as 2026-10-01T09:00:00+05:00' })
    .transform((text) => new Date(text))
    .refine((at) => at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999, 'must be in the years 1 to 9999')
    .transform((at) => at.toISOString())
    .meta({ documentedAs: { type: 'string', format: 'date-time' } });
}

/** The fields that are neither absent nor null. */
function present<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };
}
