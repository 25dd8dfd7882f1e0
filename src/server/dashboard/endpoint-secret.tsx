import type { NewEndpoint } from '../../contract/endpoints.ts'
import type { Reply } from '../http/reply.ts'
import { EventNames } from './endpoint-state.tsx'
import { addressOf, framed } from './frame.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { shown } from './value-text.tsx'

/** The one page that shows the signing secret of an endpoint. */
export function secretPage(
  signedIn: SignedInRequest,
  { id, url, events, secret, previousSecretUntil }: NewEndpoint,
  title: string,
): Reply {
  return framed(
    signedIn,
    { title, section: '/dashboard/integrations' },
    <div class="card short">
      <h1>{title}</h1>
      <p role="status">Copy the signing secret now. It will not be shown again.</p>
      <code class="code secret">{secret}</code>
      <p>The receiver verifies with it that a request comes from this server.</p>
      <dl class="facts">
        <dt>URL</dt>
        <dd>{shown(url, 2000)}</dd>
        <dt>Events</dt>
        <dd>
          <EventNames events={events} />
        </dd>
        {previousSecretUntil === null ? null : (
          <>
            <dt>Previous secret</dt>
            <dd>{`Signs until ${previousSecretUntil.slice(0, 16).replace('T', ' ')} UTC, too`}</dd>
          </>
        )}
      </dl>
      <p class="actions">
        <a class="button" href={addressOf(signedIn, `/dashboard/endpoints/${encodeURIComponent(id)}`)}>
          Done
        </a>
      </p>
    </div>,
  )
}
