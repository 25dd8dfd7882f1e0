import type { Words } from './record.ts'

export const auditEntryWords = {
  '': 'An entry of the audit log',
  id: 'Id of the entry, aud_…',
  at: 'When it was done',
  userId: 'Id of the user who did it; null where nobody is known',
  userEmail: 'E-mail address of that user as it is now',
  credential:
    'What it was done with: the id of an API key, a grant or an application, browser for the dashboard, local for a program with the database in its own process; null without one',
  action: 'What was done',
  noun: 'What it was done to: the part of the action before the dot',
  subjectId: 'Id of what it was done to; null for what has none',
  subjectName: 'What that was called: a title, an e-mail address, a name, a URL or the kind of a system',
  aboutId:
    'Id of the user whom the subject concerns, such as the learner of an enrollment; null where it concerns no user, or is one',
  address:
    'Network address that the request came from; null for a program with the database in its own process',
  userAgent: 'What the program called itself that sent the request',
  requestId: 'Id of the request, as the server log has it',
  before:
    'What changed, as it was before; the whole thing where it was deleted, null where it was created. A value longer than 4,096 characters is given as its SHA-256',
  after:
    'What changed, as it was afterwards; the whole thing where it was created, null where it was deleted',
  place: 'Place in the chain, from 1 on; null until it is linked',
  originSalt: 'Random text that is part of originDigest; null where the origin was erased',
  originDigest: 'SHA-256 of the JSON array [originSalt, address, userAgent]',
  detailsSalt: 'Random text that is part of detailsDigest; null where the details were erased',
  detailsDigest: 'SHA-256 of the JSON array [detailsSalt, requestId, subjectName, before, after]',
  hash: 'SHA-256 of the JSON array [hash of the entry before, place, id, at, userId, credential, action, subjectId, aboutId, originDigest, detailsDigest]; that of the entry before the first is 64 zeros',
} satisfies Words
