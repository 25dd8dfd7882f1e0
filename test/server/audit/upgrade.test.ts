import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import type { ChainReport } from '../../../src/cli/audit/verify-audit.ts'
import { detailsText, firstHash, formerLinkText, originText } from '../../../src/contract/audit-chain.ts'
import { linkAll, sha256 } from '../../../src/server/changes/audit-entry.ts'
import type { Store } from '../../../src/server/database/database.ts'
import { idMaker, timeOfId } from '../../../src/server/database/id.ts'
import { upgradeAuditLog } from '../../../src/server/database/schema/steps.ts'
import { type Person, test } from '../../helpers/academy.ts'
import { checkChain, readAuditLog } from '../../helpers/audit-log.ts'

const newId = idMaker(() => new Date('2026-02-01T12:00:00Z'))

/** Replaces the log of an academy by one that an earlier version wrote, with an enrolment of each of these users. */
async function formerLog(database: Store, users: readonly string[]): Promise<void> {
  await database.write(async (transaction) => {
    await transaction.run(sql`delete from audit_entries`)
    let previous = firstHash
    for (const [index, aboutId] of users.entries()) {
      const id = newId('aud')
      const origin = originText({ originSalt: 'salt', address: null, userAgent: null })
      const details = detailsText({
        ...{ detailsSalt: 'salt', requestId: null, subjectName: 'Logic', before: null },
        after: { userId: aboutId },
      })
      const entry = {
        ...{ place: index + 1, id, at: timeOfId(id), userId: null, credential: 'local' },
        action: 'enrollment.created',
        ...{ subjectId: `enr_${index}`, aboutId },
        ...{ originDigest: sha256(origin), detailsDigest: sha256(details) },
      } as const
      previous = sha256(formerLinkText(previous, entry))
      await transaction.run(sql`
        insert into audit_entries (place, id, credential, action, subject_id, about_id, origin, origin_digest, details,
                                   details_digest, hash)
        values (${entry.place}, ${id}, 'local', ${entry.action}, ${entry.subjectId}, ${aboutId}, ${origin},
                ${entry.originDigest}, ${details}, ${entry.detailsDigest}, ${previous})`)
    }
  })
}

const upgrade = (database: Store) => database.write((transaction) => upgradeAuditLog(transaction, { newId }))

async function reportOf(database: Store, admin: Person): Promise<ChainReport> {
  await linkAll(database)
  return checkChain(await readAuditLog(admin))
}

describe('The log of an earlier version', () => {
  test('keeps its hashes, is verified with what follows, and is not linked in its way again', {
    tags: ['slow'],
  }, async ({ academy: { database }, admin }) => {
    const users = Array.from({ length: 1100 }, (_, index) => `usr_${index % 7}`)
    await formerLog(database, users)
    const before = await database.all(sql`select place, hash from audit_entries order by place`)
    await upgrade(database)
    await admin.post('/v1/courses', { title: 'Logic' })
    expect(await reportOf(database, admin)).toMatchObject({ entries: 1102, broken: 0, place: 1102 })
    const after = await database.all(
      sql`select place, hash from audit_entries where place <= 1100 order by place`,
    )
    expect(after).toEqual(before)
    // Like an attacker who removes details of a new entry.
    const { body } = await admin.get('/v1/audit?sort=-place&limit=2')
    const [entry, marker] = body.data
    await database.run(sql`
      update audit_entries set hash = ${sha256(formerLinkText(marker.hash, entry))} where id = ${entry.id}`)
    expect(await reportOf(database, admin)).toMatchObject({
      broken: 1,
      breaks: [{ place: 1102, reason: expect.stringContaining('its hash does not match') }],
    })
  })

  test('names the entry with another user or without details', async ({ academy: { database }, admin }) => {
    const { body: user } = await admin.post('/v1/users', { email: 'ada@school.example' })
    await formerLog(database, [user.id, 'usr_other'])
    await upgrade(database)
    await admin.delete(`/v1/users/${user.id}?erase=true`)
    expect(await reportOf(database, admin)).toMatchObject({ broken: 0, erased: 1 })
    await database.run(sql`update audit_entries set details = null where place = 2`)
    expect(await reportOf(database, admin)).toMatchObject({
      breaks: [{ place: 2, reason: expect.stringContaining('usr_other was not erased') }],
    })
    await database.run(sql`update audit_entries set about_id = ${user.id} where place = 2`)
    expect(await reportOf(database, admin)).toMatchObject({
      broken: 1,
      breaks: [{ place: 3, reason: 'the user that an entry before it is about was changed' }],
    })
  })

  test('fails without the entry that confirms its users', async ({ academy: { database }, admin }) => {
    await formerLog(database, ['usr_1'])
    expect(await reportOf(database, admin)).toMatchObject({
      broken: 1,
      breaks: [{ reason: expect.stringContaining('no entry confirms the users they are about') }],
    })
    await admin.post('/v1/courses', { title: 'Logic' })
    expect(await reportOf(database, admin)).toMatchObject({
      broken: 1,
      breaks: [{ place: 2, reason: expect.stringContaining('no entry before it confirms') }],
    })
  })
})

test('an academy without entries gets none by an upgrade', async ({ academy: { database } }) => {
  await formerLog(database, [])
  await upgrade(database)
  expect(await database.all(sql`select id from audit_entries`)).toEqual([])
})

test('an erasure explains what is missing before, not after', async ({ academy: { database }, admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
  const { body: user } = await admin.post('/v1/users', { email: 'ada@school.example' })
  await admin.post('/v1/enrollments', { courseId: course.id, userId: user.id })
  await admin.put(`/v1/learners/${user.id}/progress`, { courseId: course.id, completionPercentage: 10 })
  await admin.delete(`/v1/users/${user.id}?erase=true`)
  const report = await reportOf(database, admin)
  expect(report).toMatchObject({ broken: 0, unlinked: 0 })
  expect(report.erased).toBeGreaterThan(1)
  await admin.put(`/v1/users/${user.id}`, { status: 'active' })
  await admin.delete(`/v1/users/${user.id}?erase=true`)
  expect(await reportOf(database, admin)).toMatchObject({ broken: 0 })
  const last = (await admin.get(`/v1/audit?action=user.erased&limit=1`)).body.data[0]
  await database.run(sql`update audit_entries set details = null where id = ${last.id}`)
  expect(await reportOf(database, admin)).toMatchObject({
    broken: 1,
    breaks: [{ id: last.id, reason: expect.stringContaining(`${user.id} was not erased later`) }],
  })
})
