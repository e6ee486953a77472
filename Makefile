# CardBox: `make run` installs what is missing, builds, starts a private PostgreSQL and serves;
# `make test` installs what is missing and runs the tests. `make help` lists the rest.

PREFIX  ?= /usr/local
DESTDIR ?=
OBJCOPY ?= objcopy
BUILD   ?= build
CFLAGS  ?= -O2 -g
WERROR  ?= -Werror

VERSION  := $(shell sed -n 's/^.define CARDBOX_VERSION  *"\(.*\)"/\1/p' include/cardbox/version.h)
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Wformat=2 -Wundef -Wpointer-arith -Wcast-qual -Wwrite-strings
PG_CFLAGS := $(addprefix -I,$(shell pg_config --includedir 2>/dev/null))
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -I$(BUILD)/gen $(PG_CFLAGS) -fPIC -pthread \
             -fvisibility=hidden -fstack-protector-strong -ffunction-sections -fdata-sections \
             $(WARNINGS) $(WERROR) $(CPPFLAGS) $(CFLAGS)
LIB_LIBS    = -lpq -luuid -lutf8proc -pthread
SERVER_LIBS = $(LIB_LIBS) -lmicrohttpd -lcurl -lz -lgnutls
CLI_LIBS    = $(LIB_LIBS) -lgnutls -ljansson
WORKER_LIBS = $(LIB_LIBS) -lcurl -ljansson

# The objects of all sources in these folders and their subfolders.
objects = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(sort $(shell find $(1) -name '*.c')))
LIB_OBJ    := $(call objects,src/base src/model src/db src/store src/bus)
APP_OBJ    := $(call objects,src/app)
SERVER_OBJ := $(call objects,src/server src/outbound)
CLI_OBJ    := $(call objects,src/cli)
WORKER_OBJ := $(call objects,src/worker src/outbound)
GENERATED  = $(patsubst %,$(BUILD)/gen/%.inc,statements migrations functions abilities web \
                                             openapi packed demo)

# While the major version is 0, a minor one may change what programs were linked with.
ABI     := $(basename $(VERSION))
SONAME   = libcardbox.so.$(if $(filter 0.%,$(ABI)),$(ABI),$(basename $(ABI)))
PROGRAMS = $(BUILD)/bin/cardboxd $(BUILD)/bin/cardbox $(BUILD)/bin/cardbox-worker
LIBS     = $(BUILD)/lib/libcardbox.a $(BUILD)/lib/libcardbox.so

.PHONY: build run test test-long lint asan tsan valgrind fuzz bench bench-cpu install uninstall deb clean deps help
.DELETE_ON_ERROR:

build: $(PROGRAMS) $(LIBS) ## build/bin/cardboxd, cardbox, cardbox-worker, build/lib/libcardbox.{a,so}

run: deps ## install what is missing, build, start a private PostgreSQL in ./var and serve
	@$(MAKE) --no-print-directory -j$$(nproc) build
	@$(BUILD)/bin/cardbox dev $(ARGS)

test: ## install what is missing and test every behaviour once
	@tests/run test

test-long: ## what is slow: all tests on the other builds, long fuzzing, big data (hours)
	@tests/run test-long

lint: ## format, warnings of clang, clang-tidy, cppcheck, rules of the house
	@tests/run lint

asan tsan valgrind fuzz: ## the suite under a sanitizer; every fuzz target for some seconds
	@tests/run $@

bench bench-cpu: ## measure against the goals (ten minutes); instructions per request
	@tests/deps bench
	@$(MAKE) --no-print-directory build
	@tests/bench/$(if $(filter bench,$@),bench,cpu).py

deps: ## install the Debian packages that building and running need
	@tests/deps run

help: ## this list
	@sed -n 's/^\([a-z -]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 28

# --- generated sources: SQL, abilities, the demo, the API's description and the pages as C text ---

# The pages. The picture of the inspector is for README.md only.
PAGES := $(sort $(filter-out %.png,$(wildcard src/web/*)))

# Changes when one of them comes, moves or goes.
$(BUILD)/gen/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(sort $(wildcard sql/*/*.sql src/bus/abilities/*.json) $(PAGES))' | cmp -s - $@ || \
	    echo '$(sort $(wildcard sql/*/*.sql src/bus/abilities/*.json) $(PAGES))' >$@

define embed # NAME, KIND, FILES
$(BUILD)/gen/$(1).inc: $(3) sql/embed.awk $(BUILD)/gen/sources
	@mkdir -p $$(@D)
	@awk -v kind=$(2) -f sql/embed.awk $(3) >$$@
endef
$(eval $(call embed,statements,STATEMENT,$(sort $(wildcard sql/statements/*.sql))))
$(eval $(call embed,migrations,MIGRATION,$(sort $(wildcard sql/migrations/*.sql))))
$(eval $(call embed,functions,FUNCTION,$(sort $(wildcard sql/functions/*.sql))))
$(eval $(call embed,abilities,ABILITY,$(sort $(wildcard src/bus/abilities/*.json))))
$(eval $(call embed,web,WEB_FILE,$(PAGES)))
$(eval $(call embed,openapi,TEXT,openapi/cardbox.json))
$(eval $(call embed,demo,TEXT,src/cli/dev/demo.ndjson))
$(BUILD)/gen/abilities.inc: $(wildcard src/bus/abilities/parts/*.json)

# PACKED("name", "its gzip") for each file that never changes while a server runs.
$(BUILD)/gen/packed.inc: openapi/cardbox.json $(PAGES) $(BUILD)/gen/sources
	@mkdir -p $(@D)
	@for file in $(filter-out %/sources,$^); do \
	    echo "PACKED(\"$${file##*/}\","; \
	    gzip -9nc "$$file" | od -An -v -tx1 | sed 's/ /\\x/g; s/.*/"&"/'; \
	    echo ')'; \
	done >$@

# --- objects, libraries, programs ---

$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags | $(GENERATED)
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Rebuilds everything when the compiler or its flags change.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS) $(LDFLAGS)' >$@
FORCE:

# Changes when a source file comes, moves or goes: an object without one must leave the archive.
$(BUILD)/lib/objects: FORCE
	@mkdir -p $(@D)
	@echo '$(sort $(LIB_OBJ) $(APP_OBJ))' | cmp -s - $@ || echo '$(sort $(LIB_OBJ) $(APP_OBJ))' >$@

$(BUILD)/lib/libcardbox.a: $(LIB_OBJ) $(BUILD)/lib/objects
	@mkdir -p $(@D)
	@rm -f $@
	@echo "  AR   $@"
	@$(AR) rcs $@ $(LIB_OBJ)

# Of what the programs share each one links what it uses: cardboxd does without jansson.
$(BUILD)/lib/app.a: $(APP_OBJ) $(BUILD)/lib/objects
	@mkdir -p $(@D)
	@rm -f $@
	@echo "  AR   $@"
	@$(AR) rcs $@ $(APP_OBJ)

# What is installed: names that are not the library's own are not there for a program to collide with.
$(BUILD)/lib/public/libcardbox.a: $(LIB_OBJ) $(BUILD)/lib/objects
	@mkdir -p $(@D)
	@rm -f $@
	@echo "  AR   $@"
	@$(CC) $(CFLAGS) -r -nostdlib -o $(@D)/cardbox.o $(LIB_OBJ)
	@$(OBJCOPY) --localize-hidden $(@D)/cardbox.o
	@$(AR) rcs $@ $(@D)/cardbox.o

$(BUILD)/lib/libcardbox.so: $(LIB_OBJ) $(BUILD)/lib/objects src/store/exports.map
	@mkdir -p $(@D)
	@echo "  LD   $@"
	@$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs -Wl,--gc-sections \
	    -Wl,--version-script=src/store/exports.map -o $@.$(VERSION) $(LIB_OBJ) $(LIB_LIBS)
	@ln -sf libcardbox.so.$(VERSION) $(BUILD)/lib/$(SONAME)
	@ln -sf $(SONAME) $@

define program # NAME, PREFIX OF ITS VARIABLES
$(BUILD)/bin/$(1): $($(2)_OBJ) $(BUILD)/lib/app.a $(BUILD)/lib/libcardbox.a
	@mkdir -p $$(@D)
	@echo "  LD   $$@"
	@$$(CC) $$(ALL_CFLAGS) $$(LDFLAGS) -o $$@ $$($(2)_OBJ) $(BUILD)/lib/app.a $(BUILD)/lib/libcardbox.a $$($(2)_LIBS)
endef
$(eval $(call program,cardboxd,SERVER))
$(eval $(call program,cardbox,CLI))
$(eval $(call program,cardbox-worker,WORKER))

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(APP_OBJ) $(SERVER_OBJ) $(CLI_OBJ) $(WORKER_OBJ))

# --- installing ---

BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
DATADIR    ?= $(PREFIX)/share/cardbox
DOCDIR     ?= $(PREFIX)/share/doc/cardbox
UNITDIR    ?= $(PREFIX)/lib/systemd/system
INSTALL    ?= install

UNITS     = src/server/cardboxd.service src/server/cardboxd.socket src/worker/cardbox-worker@.service
EXAMPLES  = src/server/cardboxd.env src/worker/worker.env
HEADERS   = $(wildcard include/cardbox/*.h)
INSTALLED = $(patsubst $(BUILD)/bin/%,$(BINDIR)/%,$(PROGRAMS)) \
            $(addprefix $(LIBDIR)/,libcardbox.a libcardbox.so.$(VERSION) $(SONAME) libcardbox.so) \
            $(LIBDIR)/pkgconfig/cardbox.pc $(INCLUDEDIR)/cardbox.h \
            $(patsubst include/%,$(INCLUDEDIR)/%,$(HEADERS)) \
            $(MANDIR)/man1/cardbox.1 $(MANDIR)/man3/cardbox.3 \
            $(MANDIR)/man8/cardboxd.8 $(MANDIR)/man8/cardbox-worker.8 \
            $(DATADIR)/roles.sh $(DOCDIR)/LICENSE \
            $(addprefix $(DOCDIR)/examples/,$(notdir $(EXAMPLES))) $(addprefix $(UNITDIR)/,$(notdir $(UNITS)))
INSTALLED_DIRS = $(sort $(patsubst %/,%,$(dir $(INSTALLED))))

install: build $(BUILD)/lib/public/libcardbox.a ## programs, library, headers, man pages, roles.sh, examples and systemd units; PREFIX, DESTDIR, LIBDIR
	@$(INSTALL) -d $(addprefix $(DESTDIR),$(INSTALLED_DIRS))
	@$(INSTALL) $(PROGRAMS) $(DESTDIR)$(BINDIR)
	@$(INSTALL) -m 644 $(BUILD)/lib/public/libcardbox.a $(BUILD)/lib/libcardbox.so.$(VERSION) $(DESTDIR)$(LIBDIR)
	@ln -sf libcardbox.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	@ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libcardbox.so
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)' '' \
	    'Name: cardbox' 'Description: Cards and boxes of AI agents, kept in PostgreSQL' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lcardbox' \
	    'Libs.private: $(LIB_LIBS)' >$(DESTDIR)$(LIBDIR)/pkgconfig/cardbox.pc
	@$(INSTALL) -m 644 include/cardbox.h $(DESTDIR)$(INCLUDEDIR)
	@$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/cardbox
	@$(INSTALL) -m 644 src/cli/cardbox.1 $(DESTDIR)$(MANDIR)/man1
	@$(INSTALL) -m 644 src/store/cardbox.3 $(DESTDIR)$(MANDIR)/man3
	@$(INSTALL) -m 644 src/server/cardboxd.8 src/worker/cardbox-worker.8 $(DESTDIR)$(MANDIR)/man8
	@$(INSTALL) docker/roles.sh $(DESTDIR)$(DATADIR)
	@$(INSTALL) -m 644 LICENSE $(DESTDIR)$(DOCDIR)
	@$(INSTALL) -m 644 $(EXAMPLES) $(DESTDIR)$(DOCDIR)/examples
	@$(INSTALL) -m 644 $(UNITS) $(DESTDIR)$(UNITDIR)
	@sed -i 's|^ExecStart=/usr/local/bin|ExecStart=$(BINDIR)|' $(addprefix $(DESTDIR)$(UNITDIR)/,$(notdir $(UNITS)))
	@echo 'installed in $(DESTDIR)$(PREFIX)'

uninstall: ## what install put there
	@rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	@rmdir $(addprefix $(DESTDIR),$(INCLUDEDIR)/cardbox $(DATADIR) $(DOCDIR)/examples $(DOCDIR)) 2>/dev/null || true

# --- packages of Debian ---

DEB_VERSION ?= $(VERSION)
DEB         := $(BUILD)/deb
DEB_TREE    := $(DEB)/cardbox

# The copy keeps its own build/, so that only changed sources are compiled again.
deb: ## packages for this release of Debian, in build/deb: cardbox, libcardbox0.2, libcardbox-dev
	@tests/deps deb
	@mkdir -p $(DEB_TREE)/docker $(DEB_TREE)/openapi
	@rm -rf $(DEB)/*.deb $(addprefix $(DEB_TREE)/,debian include sql src)
	@cp -a Makefile LICENSE include sql src docker/debian $(DEB_TREE)
	@cp -a docker/roles.sh $(DEB_TREE)/docker
	@cp -a openapi/cardbox.json $(DEB_TREE)/openapi
	@printf '%s\n\n%s\n\n -- %s  %s\n' 'cardbox ($(DEB_VERSION)) unstable; urgency=medium' \
	    '  * Changes: "Upgrade" in docker/README.md.' \
	    "$$(sed -n 's/^Maintainer: //p' docker/debian/control)" "$$(date -R)" >$(DEB_TREE)/debian/changelog
	@cd $(DEB_TREE) && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -b -nc -us -uc
	@echo 'made $(DEB)/*.deb'

clean: ## remove build/; the data in var/ stays
	@rm -rf $(BUILD)
