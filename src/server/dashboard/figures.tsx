/** A few figures, large, each with what it is of. */
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
