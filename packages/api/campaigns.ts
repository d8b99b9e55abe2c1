import { z } from 'zod';
import { Count, pageOf, Time, Uuid } from './fields.ts';

/** docs/api.md, "Campaigns". */

export const CampaignStatus = z
  .enum(['draft', 'active', 'paused', 'completed', 'canceled'])
  .meta({ id: 'CampaignStatus' });

const CampaignCalls = z
  .object({
    total: Count,
    by_status: z.record(z.string(), Count).meta({ description: 'Statuses without calls are left out.' }),
    erased: Count.meta({ description: 'Counted neither in `total` nor in `by_status`.' }),
  })
  .meta({ id: 'CampaignCalls' });

const exampleCampaign = {
  uuid: '019a4f3e-5555-7000-8000-000000000001',
  name: 'Spring renewals',
  external_id: 'crm-77',
  description: null,
  status: 'active',
  segment_type: 'sales',
  starts_at: '2026-10-01T04:00:00.000Z',
  ends_at: null,
  created_at: '2026-09-30T11:20:00.310Z',
  updated_at: '2026-10-01T04:00:12.004Z',
  calls: { total: 53, by_status: { queued: 3, completed: 49, failed: 1 }, erased: 0 },
  average_score: 81.4,
};

const item = z.object({
  uuid: Uuid,
  name: z.string(),
  external_id: z.string().nullable(),
  description: z.string().nullable(),
  status: CampaignStatus,
  segment_type: z.string().nullable(),
  starts_at: Time.nullable(),
  ends_at: Time.nullable(),
  created_at: Time,
  updated_at: Time,
  calls: CampaignCalls,
  average_score: z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .meta({ description: 'The average of the calls that have a score, to one decimal. Null when no call has one.' }),
});

export const CampaignItem = item.meta({ id: 'Campaign', examples: [exampleCampaign] });

export const CampaignPage = pageOf(CampaignItem, 'CampaignPage', exampleCampaign);
