import type { Message } from '../../contract/messages.ts'
import { Table } from './table.tsx'
import { counted, Minute, shown } from './value-text.tsx'

/** Messages to endpoints, each with the way to its attempts. */
export function MessageTable({
  base,
  messages,
  endpoints,
}: {
  base: string
  messages: readonly Message[]
  /** The URLs of endpoints by their ids, where the messages are those of several. */
  endpoints?: ReadonlyMap<string, string>
}) {
  return (
    <Table
      caption="Messages, newest first"
      columns={[
        { name: 'Event' },
        ...(endpoints ? [{ name: 'Endpoint', look: 'broad' as const }] : []),
        { name: 'Happened' },
        { name: 'State' },
        { name: 'Attempts', look: 'figures' },
        { name: 'Last result' },
      ]}
      rows={messages.map(
        ({ id, endpointId, type, createdAt, status, attemptCount, lastResult, nextAttemptAt }) => [
          <a href={`${base}/dashboard/messages/${encodeURIComponent(id)}`}>{type}</a>,
          ...(endpoints
            ? [
                <a href={`${base}/dashboard/endpoints/${encodeURIComponent(endpointId)}`}>
                  {shown(endpoints.get(endpointId) ?? endpointId, 120)}
                </a>,
              ]
            : []),
          <Minute time={createdAt} />,
          <>
            <span class={`state ${status}`}>{status}</span>
            {nextAttemptAt === null || attemptCount === 0 ? null : (
              <small>
                Next attempt <Minute time={nextAttemptAt} />
              </small>
            )}
          </>,
          counted(attemptCount),
          lastResult === null ? <span class="none">–</span> : shown(lastResult, 120),
        ],
      )}
    />
  )
}
