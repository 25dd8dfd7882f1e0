import { expect } from 'vitest'
import type { Person } from '../../helpers/academy.ts'
import { test } from './signed-in.ts'

/** Imports two users as a change; returns its id. */
async function importUsers(person: Person): Promise<string> {
  const { body } = await person.post('/v1/changes', { command: 'users import', source: 'users.csv' })
  const id = String(body.id)
  const items = [{ email: 'ada@b.example' }, { email: 'bob@b.example' }]
  await person.post('/v1/users/batch', { items }, { 'change-id': id })
  const renamed = [{ email: 'ada@b.example', role: 'instructor' }]
  await person.post('/v1/users/batch', { items: renamed, onExists: 'update' }, { 'change-id': id })
  await person.post(`/v1/changes/${id}/end`, { state: 'completed' })
  return id
}

test('changes are listed with their source, user, counts and state', async ({ admin, browser }) => {
  expect((await browser.open('/dashboard/changes')).text).toContain('No changes of many records yet.')
  await importUsers(admin)
  const { text } = await browser.open('/dashboard/changes')
  expect(text).toMatch(
    new RegExp(
      `users import users\\.csv 1 Mar 2026, 12:00 UTC ${admin.email} 2 users created 1 user updated completed`,
    ),
  )
})

test('a change shows each record with its differences, and the command that undoes it', {
  tags: ['slow'],
}, async ({ admin, browser, clock, signIn }) => {
  const id = await importUsers(admin)
  const { text, html } = await browser.open(`/dashboard/changes/${id}`)
  expect(text).toMatch(new RegExp(`Possible until 31 Mar 2026 ?\\. learnctl undo ${id}`))
  expect(text).toMatch(/user\.created ada@b\.example New user\.created bob@b\.example New/)
  expect(text).toContain('user.updated ada@b.example role: learner → instructor')
  expect(html).toMatch(/<a href="\/dashboard\/audit\/aud_\w+">user\.updated<\/a>/)
  const { body: undo } = await admin.post('/v1/changes', { command: 'undo', undoes: id })
  await admin.send('DELETE', '/v1/users/email:bob@b.example', undefined, { 'change-id': undo.id })
  await admin.post(`/v1/changes/${undo.id}/end`, { state: 'completed' })
  const undone = await browser.open(`/dashboard/changes/${id}`)
  expect(undone.text).toContain(`completed undone`)
  expect(undone.text).toContain(`Undone by ${undo.id}`)
  const { body: empty } = await admin.post('/v1/changes', { command: 'apply' })
  expect((await browser.open(`/dashboard/changes/${empty.id}`)).text).toContain('There is nothing to undo.')
  clock.advance(30 * 24 * 60 * 60 * 1000)
  const later = await signIn(admin)
  expect((await later.open(`/dashboard/changes/${id}`)).text).toContain('It is too old to be undone.')
})
