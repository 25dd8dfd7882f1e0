import type { Message } from '../../contract/messages.ts'
import { Table } from './table.tsx'
import { counted, Minute, shown } from './value-text.tsx'

/** Messages to endpoints, each with the way to its attempts. */
export function MessageTable({ base, messages }: { base: string; messages: readonly Message[] }) {
  return (
    <Table
      caption="Messages, newest first"
      columns={[
        { name: 'Event' },
        { name: 'Happened' },
        { name: 'State' },
        { name: 'Attempts', look: 'figures' },
        { name: 'Last result', look: 'broad' },
      ]}
      rows={messages.map(({ id, type, createdAt, status, attemptCount, lastResult, nextAttemptAt }) => [
        <a href={`${base}/dashboard/messages/${encodeURIComponent(id)}`}>{type}</a>,
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
      ])}
    />
  )
}
