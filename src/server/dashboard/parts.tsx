/** The ways between pages about one thing; the one that is shown is marked. */
export function Parts({
  label,
  shown,
  parts,
}: {
  label: string
  /** The name of the page that is shown. */
  shown: string
  parts: readonly (readonly [href: string, name: string])[]
}) {
  return (
    <nav class="parts" aria-label={label}>
      <ul>
        {parts.map(([href, name]) => (
          <li>
            <a href={href} aria-current={name === shown ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
