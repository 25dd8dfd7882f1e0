import type { AuditEntry } from '../../contract/audit.ts'
import { shown } from './value-text.tsx'

/** Who did it: the user, and with what; where nobody is known, the credential alone. */
export function Actor({ entry: { userId, userEmail, credential } }: { entry: AuditEntry }) {
  const name = userEmail ?? userId
  if (name === null)
    return credential === null ? <span class="none">Nobody</span> : <code>{shown(credential, 64)}</code>
  return (
    <>
      {shown(name, 254)}
      {credential === null ? null : <small>{shown(credential, 64)}</small>}
    </>
  )
}

/** What it was done to: by its name where that is known, else by its id. */
export function SubjectName({ entry: { subjectName, subjectId } }: { entry: AuditEntry }) {
  if (subjectName !== null) return <>{shown(subjectName, 200)}</>
  return subjectId === null ? <span class="none">–</span> : <code>{shown(subjectId, 100)}</code>
}
