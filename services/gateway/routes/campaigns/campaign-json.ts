import type { Campaign } from '@call-analysis/proto/ingest/v1/Campaign';

/** A campaign. No field is missing; unknown ones are null (docs/api.md, "Campaigns"). */
export function campaignItem(campaign: Campaign) {
  return {
    uuid: campaign.uuid,
    name: campaign.name,
    external_id: campaign.external_id ?? null,
    description: campaign.description ?? null,
    status: campaign.status,
    segment_type: campaign.segment_type ?? null,
    starts_at: campaign.starts_at ?? null,
    ends_at: campaign.ends_at ?? null,
    created_at: campaign.created_at,
    updated_at: campaign.updated_at,
    calls: { total: campaign.calls_total, by_status: campaign.calls_by_status, erased: campaign.calls_erased ?? 0 },
    average_score: campaign.average_score ?? null,
  };
}
