import type { Child } from 'hono/jsx'

export interface Column {
  readonly name: string
  /** Layout: numbers, flush right; numbers below a long heading; a bar; or long text, such as a URL. */
  readonly look?: 'figures' | 'score' | 'drawn' | 'broad'
  /** True if the heading is for screen readers only. */
  readonly unseen?: true
  /** Makes the heading a link that sorts the table. */
  readonly sorting?: { readonly href: string; readonly now: 'ascending' | 'descending' | undefined }
}

/** Columns of numbers with these names. */
export function figureColumns(...names: readonly string[]): readonly Column[] {
  return names.map((name) => ({ name, look: 'figures' }))
}

// Narrow screens show rows as blocks, not tables, so screen readers need the roles.
const [table, rowgroup, row, columnheader, rowheader, cell] = [
  'table',
  'rowgroup',
  'row',
  'columnheader',
  'rowheader',
  'cell',
].map((role) => ({ role }))

/** A table whose rows are named by their first cell. */
export function Table({
  caption,
  columns,
  rows,
}: {
  caption: string
  columns: readonly Column[]
  rows: readonly (readonly Child[])[]
}) {
  return (
    <table {...table}>
      <caption>{caption}</caption>
      <thead {...rowgroup} class={columns.some(({ sorting }) => sorting) ? 'sorting' : undefined}>
        <tr {...row}>
          {columns.map((column) => (
            <th {...columnheader} scope="col" class={column.look} aria-sort={column.sorting?.now}>
              {column.sorting ? <a href={column.sorting.href}>{column.name}</a> : null}
              {column.unseen ? <span class="unseen">{column.name}</span> : null}
              {column.sorting || column.unseen ? null : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...rowgroup}>
        {rows.map((cells) => (
          <tr {...row}>
            {cells.map((content, index) => {
              const { name = '', unseen, look } = columns[index] ?? {}
              if (index === 0) {
                return (
                  <th {...rowheader} scope="row">
                    {content}
                  </th>
                )
              }
              return (
                <td {...cell} class={look} data-column={unseen ? undefined : name}>
                  {content}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function Card({
  id,
  title,
  isShort,
  isUnseen,
  children,
}: {
  /** Id of the heading. */
  id: string
  title: string
  isShort?: boolean
  /** The heading is for screen readers only. */
  isUnseen?: boolean
  children: Child
}) {
  return (
    <section class={isShort ? 'card short' : 'card'} aria-labelledby={id}>
      <h2 id={id} class={isUnseen ? 'unseen' : undefined}>
        {title}
      </h2>
      {children}
    </section>
  )
}

/** Lists figures with their names; leaves out entries that are false. */
export function figureTiles(
  figures: readonly (readonly [name: string, figure: string] | false)[],
  label?: string,
): Child {
  return (
    <dl class="tiles" aria-label={label}>
      {figures.map((figure) =>
        figure === false ? null : (
          <div>
            <dt>{figure[0]}</dt>
            <dd>{figure[1]}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
