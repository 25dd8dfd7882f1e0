import { expect } from 'vitest'
import { connect } from '../../helpers/lms.ts'
import { sample } from '../../lms/samples.ts'
import { test as base } from './signed-in.ts'

const graded = sample('moodle_local_webhooks.user_graded.composed')

/** A grade from Moodle, after a manual one for the same item. */
const test = base
  .extend('courseId', async ({ admin, learner }) => {
    const { id } = (await admin.post('/v1/courses', { title: 'Logic', status: 'published' })).body
    await admin.post('/v1/enrollments', { courseId: id, userId: learner.id })
    return id as string
  })
  .extend('grade', async ({ academy, admin, courseId, learner }) => {
    const given = { learnerId: learner.id, courseId, source: 'moodle', itemId: '12' }
    await academy.grade({ ...given, scoreGiven: 40, gradedAt: '2024-01-01T00:00:00.000Z' })
    const moodle = await connect(academy, admin, 'moodle')
    await moodle.map('course', '4', courseId)
    await moodle.map('user', '15', learner.id)
    const { body } = await moodle.deliver(graded)
    return { id: body.grade.id as string, deliveryId: body.deliveryId as string }
  })

test('a grade shows its owner, delivery and earlier scores', async ({
  browser,
  courseId,
  grade,
  learner,
}) => {
  const { html, text } = await browser.open(`/dashboard/grades/${grade.id}`)
  for (const place of [
    `learners/${learner.id}/grades`,
    `courses/${courseId}/grades`,
    `deliveries/${grade.deliveryId}`,
  ]) {
    expect(html).toContain(`<a href="/dashboard/${place}">`)
  }
  expect(text).toMatch(/History .* 2 85 of 100 .* 1 40 of 100 1 Jan 2024, 00:00 UTC/)
})

test('a delivery and lists of grades lead to the grade', async ({ browser, courseId, grade, learner }) => {
  for (const place of [
    `deliveries/${grade.deliveryId}`,
    `courses/${courseId}/grades`,
    `learners/${learner.id}/grades`,
  ]) {
    expect((await browser.open(`/dashboard/${place}`)).html, place).toContain(
      `<a href="/dashboard/grades/${grade.id}">`,
    )
  }
})

test('a learner sees their own grade, and no other', async ({ admin, courseId, grade, learner, signIn }) => {
  const browser = await signIn(learner)
  const own = await browser.open(`/dashboard/courses/${courseId}`)
  expect(own.html).toContain(`<a href="/dashboard/grades/${grade.id}">`)
  const { html, status } = await browser.open(`/dashboard/grades/${grade.id}`)
  expect(status).toBe(200)
  expect(html).not.toMatch(/href="\/dashboard\/(deliveries|learners)\//)
  const hidden = { learnerId: learner.id, courseId, itemId: 'draft', scoreGiven: 1, published: false }
  const { body } = await admin.put('/v1/grades', hidden)
  expect((await browser.open(`/dashboard/grades/${body.id}`)).status).toBe(404)
})
