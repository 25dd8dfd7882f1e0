import { analytics } from '../../contract/analytics.ts'
import { type User, users } from '../../contract/users.ts'
import { isGraded } from '../grades/course-grades.ts'
import { requireRight } from '../http/handler.ts'
import { userRoutes } from '../users/users.ts'
import { Parts } from './parts.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'

/** Whom a page is about; throws 403 for those who may not see other learners. */
export async function learnerOf(signedIn: SignedInRequest): Promise<{ user: User; name: string }> {
  requireRight(signedIn.principal, analytics.learners)
  const user = await ask(signedIn, userRoutes, users.get, { params: signedIn.params })
  const { firstName, lastName } = user.profile
  return { user, name: [firstName, lastName].filter(Boolean).join(' ') || user.email }
}

/** What all pages about a learner begin with: who it is, and the ways to the others. */
export async function learnerHeading({
  signedIn,
  user: { id, email, externalId, role, status },
  name,
  shown,
}: {
  signedIn: SignedInRequest
  user: User
  name: string
  shown: 'Courses' | 'Grades'
}) {
  const place = `${signedIn.base}/dashboard/learners/${encodeURIComponent(id)}`
  return (
    <>
      <p class="back">
        <a href={`${signedIn.base}/dashboard`}>Overview</a>
      </p>
      <h1>{name}</h1>
      <p class="note">
        {name === email ? null : `${email} · `}
        {role}
        {status === 'active' ? null : ` · ${status}`}
        {' · '}
        <code>{externalId ?? id}</code>
      </p>
      {shown === 'Grades' || (await isGraded(signedIn.database, id)) ? (
        <Parts
          label="Learner"
          shown={shown}
          parts={[
            [place, 'Courses'],
            [`${place}/grades`, 'Grades'],
          ]}
        />
      ) : null}
    </>
  )
}
