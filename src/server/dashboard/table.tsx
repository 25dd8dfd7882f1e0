import type { Child } from 'hono/jsx'

export { type Column, Table } from '../../report/table.tsx'

/** Named values of one record. */
export function Facts({ facts }: { facts: readonly (readonly [word: string, value: Child])[] }) {
  return (
    <dl class="facts">
      {facts.map(([word, fact]) => (
        <>
          <dt>{word}</dt>
          <dd>{fact}</dd>
        </>
      ))}
    </dl>
  )
}

/** Large figures with their names. */
export function Figures({ figures }: { figures: readonly (readonly [name: string, figure: string])[] }) {
  return (
    <dl class="tiles">
      {figures.map(([name, figure]) => (
        <div>
          <dt>{name}</dt>
          <dd>{figure}</dd>
        </div>
      ))}
    </dl>
  )
}
