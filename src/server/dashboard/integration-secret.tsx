import type { LmsKind } from '../../contract/integration-choices.ts'
import { integrations } from '../../contract/integrations.ts'
import { newWebhookSecret } from '../../webhooks/set-up.ts'
import type { Reply } from '../http/reply.ts'
import { integrationRoutes } from '../integrations/integrations.ts'
import { doneOnce } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { overlapOf } from './integration-form.tsx'
import { kindWords } from './integration-words.ts'
import { ask, type SignedInRequest } from './signed-in-request.ts'

/** True where the secret is one's own to choose: Thinkific signs with the key of its account. */
export function takesAnySecret(kind: LmsKind): boolean {
  return kind !== 'thinkific'
}

/** Makes a webhook secret for a system, once for each form, and shows it on the one page that does. */
export function secretGenerated(
  signedIn: SignedInRequest,
  form: URLSearchParams,
  kind: LmsKind,
): Promise<Reply> {
  const here = `/dashboard/integrations/${kind}` as const
  return doneOnce(signedIn, form, addressOf(signedIn, here, 'secret_made_before'), async (inside) => {
    const secret = newWebhookSecret()
    const body = { webhookSecrets: [secret], ...overlapOf(24, signedIn.request.now) }
    const { secrets } = await ask(inside, integrationRoutes, integrations.set, {
      params: { lmsKind: kind },
      body,
    })
    const title = `Webhook secret of ${kindWords[kind]}`
    return framed(
      signedIn,
      { title, section: '/dashboard/integrations' },
      <div class="card short">
        <h1>{title}</h1>
        <p role="status">Copy the secret now. It will not be shown again.</p>
        <code class="code secret">{secret}</code>
        <p>
          {kind === 'openedx'
            ? 'Put it into the webhook address in Open edX, in place of <webhook secret>.'
            : `Enter it in ${kindWords[kind]} as the secret that events are signed with.`}
        </p>
        {secrets.webhook.length > 1 ? <p>The previous secret is accepted for 24 hours.</p> : null}
        <p class="actions">
          <a class="button" href={addressOf(signedIn, here)}>
            Done
          </a>
        </p>
      </div>,
    )
  })
}
