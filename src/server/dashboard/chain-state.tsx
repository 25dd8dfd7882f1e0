import { type Chain, maxWaiting } from '../audit-log/chain.ts'
import { counted } from './value-text.tsx'

/** How many entries are linked to each other, the last link, and how many wait to be. */
export function ChainState({ chain: { linked, hash, waiting } }: { chain: Chain }) {
  return (
    <section class="card" aria-labelledby="chain">
      <h2 id="chain">Chain</h2>
      <p>
        Each entry has a hash that covers the entry before it, so that a changed or missing entry shows.{' '}
        <code class="word">learnctl audit verify</code> calculates all of them again. Keep the last hash
        elsewhere to compare it later.
      </p>
      <dl class="facts">
        <dt>Linked entries</dt>
        <dd>{counted(linked)}</dd>
        {waiting === 0 ? null : (
          <>
            <dt>Waiting to be linked</dt>
            <dd>{counted(Math.min(waiting, maxWaiting)) + (waiting > maxWaiting ? '+' : '')}</dd>
          </>
        )}
        <dt>Last hash</dt>
        <dd>
          <code>{hash}</code>
        </dd>
      </dl>
    </section>
  )
}
