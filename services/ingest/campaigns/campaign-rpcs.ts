import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Caller } from '@call-analysis/proto/ingest/v1/Caller';
import type { Campaign as CampaignMessage } from '@call-analysis/proto/ingest/v1/Campaign';
import type { Handlers } from '@call-analysis/rpc';
import { answer, PageRequest, present, requireCaller, type Sent } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { z } from 'zod';
import { campaignActions } from './campaign-rules.ts';
import type { Campaign } from './campaign-store.ts';
import { changeCampaign, changeCampaignState, createCampaign } from './change-campaign.ts';
import type { CancelDeps } from './maintain-campaigns.ts';

const Clearable = z.array(z.enum(['description', 'starts_at', 'ends_at']));

export function campaignRpcs(deps: CancelDeps & { readonly firms: Firms }) {
  const { campaigns } = deps;
  return {
    createCampaign: async (request) => {
      const campaign = await createCampaign(deps, requireCaller(request.caller), {
        name: z.string().min(1).parse(request.name),
        external_id: request.external_id ?? null,
        description: request.description ?? null,
        segment_type: request.segment_type ?? null,
        starts_at: instant(request.starts_at) ?? null,
        ends_at: instant(request.ends_at) ?? null,
      });
      return shown(request.caller, campaign);
    },

    listCampaigns: async (request) => {
      const { firmUuid } = requireCaller(request.caller);
      const page = await campaigns.list(firmUuid, request, PageRequest.parse(request));
      return answer(request.caller, page, (json) => ({ ...json, items: json.items.map(campaignMessage) }));
    },

    getCampaign: async ({ caller, campaign_uuid }) =>
      shown(caller, await campaigns.get(requireCaller(caller).firmUuid, Uuid.parse(campaign_uuid))),

    changeCampaign: async (request) => {
      const cleared = new Set<string>(Clearable.parse(request.clear));
      return shown(
        request.caller,
        await changeCampaign(deps, requireCaller(request.caller), Uuid.parse(request.campaign_uuid), {
          name: request.name,
          description: cleared.has('description') ? null : request.description,
          starts_at: cleared.has('starts_at') ? null : instant(request.starts_at),
          ends_at: cleared.has('ends_at') ? null : instant(request.ends_at),
        }),
      );
    },

    moveCampaign: async ({ caller, campaign_uuid, action: name }) => {
      const action = z.enum(campaignActions).parse(name);
      return shown(caller, await changeCampaignState(deps, requireCaller(caller), Uuid.parse(campaign_uuid), action));
    },

    admitToCampaign: async ({ caller, campaign_uuid }) => {
      await campaigns.requireActive(requireCaller(caller).firmUuid, Uuid.parse(campaign_uuid));
      return {};
    },
  } satisfies Partial<Handlers<typeof ingest>>;
}

function instant(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(z.iso.datetime().parse(text));
}

function shown(caller: Caller | null, campaign: Campaign) {
  return answer(caller, campaign, campaignMessage);
}

/** As the last release sent it. */
function campaignMessage({ calls, ...same }: Sent<Campaign>): CampaignMessage {
  return { ...present(same), calls_total: calls.total, calls_by_status: calls.by_status };
}
