import type { Words } from './record.ts'

/** What each tag, one for each resource, is about. */
export const tagWords = {
  courses:
    'What is taught. A course is a draft, published or archived, and keeps all its versions, which can be compared and restored.',
  lessons: 'The units of a course: content blocks and assessments, grouped by the modules of the course.',
  users: 'Everybody in the academy, each with one role: admin, instructor, analyst or learner.',
  enrollments: 'Who takes or teaches which course. There is one enrolment for each user, course and role.',
  progress:
    'How much of a course a learner has done, with its history. An older record never replaces a newer one.',
  analytics: 'Reports on learners in courses, as JSON, CSV or NDJSON.',
  keys: 'API keys: credentials for programs. A key acts as its owner and is shown once.',
  apps: 'OAuth applications, which act on behalf of the users who allow it.',
  grants: 'The access that users have given to OAuth applications.',
  service: 'Health check and API description. They take no credential.',
} satisfies Words

/** What there is to know of each operation beside its summary, in sentences. */
export const operationWords: Words = {
  'courses.list':
    'Learners get published courses only. The newest come first, unless `sort` says otherwise; `sort=difficulty` goes from beginner to expert.',
  'courses.get': 'The `ETag` is the version of the course: send it as `If-Match` with an update.',
  'courses.create':
    'Only `title` is required. A course starts as a draft, unless `status` is `published`. The modules get their ids here.',
  'courses.update':
    'Send what changes: absent attributes are left unchanged, null resets one to its default, and lists are replaced as a whole. The response names the modified attributes and the new version; an update that changes nothing makes no new version. A published course can become a draft again only while it has no progress, and an archived course accepts only a new status.',
  'courses.delete':
    'A course that has lessons or progress is deleted with `force=true` only, which requires an admin with the scope `admin`. This cannot be undone.',
  'courses.versions': 'Every change of a course makes a version. Learners cannot read versions.',
  'courses.version': 'The response has the attributes as they were in that version.',
  'courses.diff':
    'Each entry is one place that differs, with its value in both versions. Without `to`, the version is compared with the current one.',
  'courses.restore':
    'The attributes are set back to those of the version. The id, the external id and the status are not changed.',

  'lessons.list':
    'Learners get published lessons of published courses only, and no answers. The lessons of a course come in its order.',
  'lessons.get': 'Learners get the questions of assessments without their answers.',
  'lessons.create':
    'The course and the title are required. Without `order` the lesson is added after the last one; at a taken position it moves the lessons after it.',
  'lessons.update':
    'Send what changes: absent attributes are left unchanged, null resets one to its default, and lists are replaced as a whole. Blocks, assessments and questions sent with their id keep it.',
  'lessons.delete': 'This cannot be undone. The lessons of an archived course cannot be deleted.',

  'users.list':
    'Learners get themselves only. Deleted users are left out, unless `include_deleted=true` or `status=deleted` asks for them.',
  'users.get': 'Learners can read themselves only.',
  'users.create':
    'Only `email` is required. Instructors can create learners only. A 409 names the id of the user who has the e-mail address, the user name or the external id, where the caller may see that user.',
  'users.batch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order. Items are matched by their e-mail address, and `onExists` decides about users who already exist.',
  'users.update':
    'Send what changes: absent attributes are left unchanged, and null resets one to its default. Setting `status` to `active` restores a deleted user, without their API keys. A new password, a suspension or a deletion ends the sessions and grants of the user. Changing an admin requires the scope `admin`.',
  'users.delete':
    'A deleted user cannot sign in and can be restored; an erased one (`erase=true`) is anonymised permanently and cannot. API keys and grants end for good. Deleting an admin requires the scope `admin`; the last active admin cannot be deleted.',
  'users.profile': 'Shows whose credential is in use, and what it may do.',
  'users.updateProfile':
    'Send what changes of your profile, user name or password. A new password requires `currentPassword`.',

  'enrollments.list': 'Learners get their own enrolments only.',
  'enrollments.get': 'Learners can read their own enrolments only.',
  'enrollments.create': 'A deleted enrolment of the same user, course and role is restored.',
  'enrollments.batch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order. `onExists` decides about users who are enrolled already.',
  'enrollments.update': 'Send what changes. The course, the user and the role cannot be changed.',
  'enrollments.delete': 'Enrolling the user again restores it. Progress is kept.',

  'progress.list': 'One record for each course. Learners can read their own progress only.',
  'progress.set':
    'Send the whole record. The first one enrols the learner, unless it is their own. The status and the times of start and completion follow from what is recorded. A record with an older `lastAccessed` than the stored one is refused with 409 `stale_progress`; one with the same time is accepted, so that sending it again is harmless. Without `lastAccessed` the record is taken as the newest.',
  'progress.history': 'Every accepted record, newest first. Learners can read their own history only.',
  'progress.batch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order.',

  'analytics.learners':
    'One row for each enrolment of a learner, ordered by e-mail address and course. `start_date` and `end_date` filter on `lastAccessed`: a day is a UTC day, included at both ends; a time is included at the start and excluded at the end. JSON is paged, and its first page has the period and the summary; CSV and NDJSON are returned in full.',

  'keys.list': 'Lists the keys of all users, with revoked and expired ones. Their text is not shown.',
  'keys.create':
    'The key is shown in this response only. It acts as its owner, within its scopes and the current role of the owner.',
  'keys.revoke': 'The key stops working at once. This cannot be undone.',

  'apps.list': 'Lists the registered applications. Their secrets are not shown.',
  'apps.create':
    'The client secret is shown in this response only. A public application has none, and uses PKCE alone.',
  'apps.delete': 'Its grants and tokens are revoked at once.',

  'grants.list': 'Lists your own grants, or with `user_id` those of another user, which requires an admin.',
  'grants.revoke': 'The tokens of the grant stop working at once.',

  'service.health': 'Answers as long as the server is up, without a credential.',
  'service.openapi': 'Answers this document, without a credential.',
}

/** What an integrator has to know of all operations, in Markdown. */
export const introduction = `Manage courses, lessons, users and enrolments, record the progress of learners and report on it.

**Credentials.** Send \`Authorization: Bearer <credential>\`, an API key or an OAuth 2.0 access token. A request may do what
both the scopes of the credential and the current role of its owner allow; \`x-scope\` and \`x-roles\` of each operation
name them. A record that the caller may not see is "not found".

**References.** Wherever an id is expected, \`ext:<externalId>\` is accepted, and for users \`email:<address>\`. Responses
have the id.

**Lists.** A page is \`{data, nextCursor}\`. Send \`nextCursor\` as \`cursor\` to get the next one; on the last page it is
null. A parameter that takes several values takes them with commas between, or repeated.

**Updates.** \`PUT\` merges (RFC 7396): absent fields are left unchanged, null resets a field to its default. \`PATCH\` does the
same. \`If-Match\` with
the \`ETag\` of the record makes sure that nobody has changed it meanwhile (412), \`If-None-Match\` saves an unchanged
response (304). Responses are compressed (gzip, br) where \`Accept-Encoding\` asks for it; request bodies are not.

**Repeating.** A \`POST\` with an \`Idempotency-Key\` can be repeated for 24 hours: the first response comes again, with
\`Idempotent-Replayed: true\`.

**Errors** are problem details (RFC 9457) with a \`code\` for programs, and \`errors\` with the problems of the request, all at once.

**Times** are RFC 3339, in whatever time zone; responses are in UTC with milliseconds.

Eight operations are those of the published interface (\`x-published: true\`); all others are extensions.`
