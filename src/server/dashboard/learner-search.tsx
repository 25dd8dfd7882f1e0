import { type LearnerQuery, searchOf } from './learner-query.ts'

/** The form that searches the learners of a course, and keeps their filter and order. */
export function LearnerSearch({ here, query }: { here: string; query: LearnerQuery }) {
  const { q, status, attention, sort } = query
  const kept = Object.entries({ status, attention, sort: sort === 'name' ? undefined : sort })
  return (
    <search>
      <form method="get" action={`${here}#learners`} class="search" aria-label="Search learners">
        <label for="q">Name, username, e-mail address or external ID</label>
        <input id="q" name="q" type="search" value={q ?? ''} maxlength={200} autocomplete="off" />
        {kept.map(([name, value]) => (value ? <input type="hidden" name={name} value={value} /> : null))}
        <button type="submit" class="quiet">
          Search
        </button>
        {q ? <a href={`${here}${searchOf({ status, attention, sort })}#learners`}>Clear</a> : null}
      </form>
    </search>
  )
}
