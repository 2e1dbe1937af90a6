// SPDX-License-Identifier: GPL-2.0-or-later
/* The mutation driver's main program; mutate.h says what it is. */
#include "mutate.h"

#include <errno.h>
#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
	"usage: mutate [options] PROGRAM FILE...\n"
	"Damages the trace files and runs PROGRAM's commands on every mutant.\n"
	"  -n N        number of mutants (1000)\n"
	"  -s SEED     another seed, other mutants (1)\n"
	"  -j JOBS     processes (1)\n"
	"  -o K        only mutant number K; with -k, write it and do not run anything\n"
	"  -k DIR      keep mutants on which a command misbehaved here\n"
	"  -t SECONDS  time limit of a command (10)\n"
	"  -m MB       limit of its address space (2048; 0 for programs with sanitizers)\n"
	"Exits with 0 when every command ended as it should.\n";

static const char *const outcome_names[OUTCOMES] = {"ok",   "refused", "crash",
						    "hang", "runaway", "unclear"};

struct options {
	const char *program;
	char **files;
	size_t nr_files;
	const char *keep;
	uint64_t n, seed, only;
	bool only_one;
	unsigned int jobs;
	struct limits limits;
};

/* Shared by all processes. */
struct counts {
	_Atomic uint64_t outcomes[OUTCOMES];
	_Atomic uint64_t mutants;
};

static struct image *load_files(const struct options *opt)
{
	struct image *images = calloc(opt->nr_files, sizeof(*images));

	for (size_t i = 0; images && i < opt->nr_files; i++) {
		if (!image_load(&images[i], opt->files[i])) {
			fprintf(stderr, "mutate: %s: not a readable trace file\n", opt->files[i]);
			exit(1);
		}
	}
	return images;
}

/* Mutant number k. */
static void make_mutant(const struct options *opt, const struct image *images, uint64_t k,
			struct image *mutant)
{
	struct rng r = {.state = opt->seed};

	r.state = rng_next(&r) ^ (k * 0x9e3779b97f4a7c15ull);
	image_copy(mutant, &images[k % opt->nr_files]);
	image_mutate(mutant, &r);
}

/* The name of the recording: the file's, or its directory's when the file is a trace.dat. */
static void recording_name(const char *path, char *name, size_t size)
{
	char copy[4096], *slash;

	snprintf(copy, sizeof(copy), "%s", path);
	slash = strrchr(copy, '/');
	if (slash && !strcmp(slash, "/trace.dat"))
		*slash = '\0';
	slash = strrchr(copy, '/');
	snprintf(name, size, "%.200s", slash ? slash + 1 : copy);
}

static void keep_mutant(const struct options *opt, const struct image *mutant, uint64_t k,
			const char *why)
{
	char path[4096], name[256];
	FILE *f;

	recording_name(opt->files[k % opt->nr_files], name, sizeof(name));
	mkdir(opt->keep, 0755);
	snprintf(path, sizeof(path), "%s/%s-%llu-%06llu-%s.dat", opt->keep, name,
		 (unsigned long long)opt->seed, (unsigned long long)k, why);
	f = fopen(path, "wb");
	if (!f || fwrite(mutant->data, 1, mutant->len, f) != mutant->len)
		fprintf(stderr, "mutate: %s: %s\n", path, strerror(errno));
	if (f)
		fclose(f);
}

static void run_mutant(const struct options *opt, struct runner *run, const struct image *mutant,
		       uint64_t k, struct counts *counts)
{
	if (!runner_write(run, mutant)) {
		fprintf(stderr, "mutate: %s: %s\n", run->path, strerror(errno));
		exit(1);
	}
	for (const char *const *command = mutate_commands; *command; command++) {
		enum outcome outcome = runner_run(run, *command);

		atomic_fetch_add(&counts->outcomes[outcome], 1);
		if (outcome <= OUTCOME_REFUSED)
			continue;
		printf("mutant %llu of %s: %s: %s %s\n", (unsigned long long)k,
		       opt->files[k % opt->nr_files], *command, outcome_names[outcome], run->why);
		fflush(stdout);
		if (opt->keep)
			keep_mutant(opt, mutant, k, outcome_names[outcome]);
	}
}

/* One process: every mutant whose number leaves `part` when divided by the number of jobs. */
static int work(const struct options *opt, const struct image *images, unsigned int part,
		struct counts *counts)
{
	struct runner run;

	if (!runner_open(&run, opt->program, &opt->limits)) {
		fprintf(stderr, "mutate: %s\n", strerror(errno));
		return 1;
	}
	for (uint64_t k = part; k < opt->n; k += opt->jobs) {
		struct image mutant;

		make_mutant(opt, images, k, &mutant);
		run_mutant(opt, &run, &mutant, k, counts);
		image_free(&mutant);
		atomic_fetch_add(&counts->mutants, 1);
	}
	runner_close(&run);
	return 0;
}

/* Waits for the processes, telling a terminal how far they are. */
static bool wait_for_all(const struct options *opt, const struct counts *counts)
{
	unsigned int running = opt->jobs;
	bool fine = true;

	while (running) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid > 0) {
			running--;
			fine = fine && WIFEXITED(status) && !WEXITSTATUS(status);
			continue;
		}
		usleep(50000);
		if (isatty(2))
			fprintf(stderr, "\r%llu of %llu mutants ",
				(unsigned long long)counts->mutants, (unsigned long long)opt->n);
	}
	if (isatty(2))
		fprintf(stderr, "\r%40s\r", "");
	return fine;
}

static int run_all(const struct options *opt, const struct image *images)
{
	struct counts *counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct timespec begin, end;
	bool fine;
	uint64_t runs = 0, bad = 0;

	if (counts == MAP_FAILED)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned int part = 0; part < opt->jobs; part++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid)
			_exit(work(opt, images, part, counts));
	}
	fine = wait_for_all(opt, counts);
	clock_gettime(CLOCK_MONOTONIC, &end);

	for (int i = 0; i < OUTCOMES; i++) {
		runs += counts->outcomes[i];
		bad += i > OUTCOME_REFUSED ? counts->outcomes[i] : 0;
	}
	printf("%llu mutants, %llu runs in %lld s:", (unsigned long long)counts->mutants,
	       (unsigned long long)runs, (long long)(end.tv_sec - begin.tv_sec));
	for (int i = 0; i < OUTCOMES; i++)
		printf(" %llu %s%s", (unsigned long long)counts->outcomes[i], outcome_names[i],
		       i + 1 < OUTCOMES ? "," : "\n");
	return fine && !bad && counts->mutants == opt->n ? 0 : 1;
}

static int run_one(const struct options *opt, const struct image *images)
{
	struct counts counts = {0};
	struct image mutant;
	struct runner run;

	make_mutant(opt, images, opt->only, &mutant);
	if (opt->keep) {
		keep_mutant(opt, &mutant, opt->only, "mutant");
	} else if (runner_open(&run, opt->program, &opt->limits)) {
		run_mutant(opt, &run, &mutant, opt->only, &counts);
		runner_close(&run);
	}
	image_free(&mutant);
	return 0;
}

static uint64_t to_number(const char *text)
{
	char *end;
	uint64_t v = strtoull(text, &end, 0);

	if (!*text || *end) {
		fprintf(stderr, "mutate: '%s' is no number\n", text);
		exit(1);
	}
	return v;
}

static void __attribute__((noreturn)) show_usage(void)
{
	fputs(usage, stderr);
	exit(1);
}

static void parse_arguments(struct options *opt, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:j:o:k:t:m:")) != -1) {
		switch (c) {
		case 'n': opt->n = to_number(optarg); break;
		case 's': opt->seed = to_number(optarg); break;
		case 'j': opt->jobs = (unsigned int)to_number(optarg); break;
		case 'o':
			opt->only = to_number(optarg);
			opt->only_one = true;
			break;
		case 'k': opt->keep = optarg; break;
		case 't': opt->limits.seconds = (unsigned int)to_number(optarg); break;
		case 'm': opt->limits.memory = (size_t)to_number(optarg) << 20; break;
		default: show_usage();
		}
	}
	if (argc - optind < 2 || !opt->jobs)
		show_usage();
	opt->program = argv[optind];
	opt->files = argv + optind + 1;
	opt->nr_files = (size_t)(argc - optind - 1);
}

int main(int argc, char **argv)
{
	struct options opt = {
		.n = 1000,
		.seed = 1,
		.jobs = 1,
		.limits = {.seconds = 10, .memory = 2048ull << 20, .output = 64u << 20},
	};
	struct image *images;
	int rc;

	parse_arguments(&opt, argc, argv);
	images = load_files(&opt);
	if (!images)
		return 1;
	rc = opt.only_one ? run_one(&opt, images) : run_all(&opt, images);
	for (size_t i = 0; i < opt.nr_files; i++)
		image_free(&images[i]);
	free(images);
	return rc;
}
