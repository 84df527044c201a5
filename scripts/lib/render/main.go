// Renders a Helm chart without Helm: text/template with sprig and the functions that our charts use.
// render [-namespace NS] [-release NAME] [-values FILE,...] [-changed] CHART writes the manifests to standard output,
// in the order in which they can be applied. With -changed it writes only those that differ from the default values.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type values = map[string]interface{}

// The files of the chart in files/, as .Files.
type files map[string]string

func (f files) Get(name string) string { return f[name] }

func (f files) Glob(pattern string) map[string]string {
	found := map[string]string{}
	for name, content := range f {
		if matches, _ := path.Match(pattern, name); matches {
			found[name] = content
		}
	}
	return found
}

// The order in which kinds are applied: an object comes after those to which it refers.
var order = []string{"Namespace", "NetworkPolicy", "PodDisruptionBudget", "ServiceAccount", "Secret", "ConfigMap",
	"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "Deployment",
	"PriorityLevelConfiguration", "FlowSchema", "APIService", "Issuer", "Certificate", "MutatingWebhookConfiguration",
	"ValidatingWebhookConfiguration", "ServiceMonitor"}

func rank(kind string) int {
	for i, known := range order {
		if known == kind {
			return i
		}
	}
	return len(order)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func readYaml(name string) values {
	content, err := os.ReadFile(name)
	fail(err)
	var out values
	if err := yaml.Unmarshal(content, &out); err != nil {
		fail(fmt.Errorf("%s: %v", name, err))
	}
	return out
}

func merge(into, from values) {
	for key, value := range from {
		below, isMap := value.(values)
		present, wasMap := into[key].(values)
		if isMap && wasMap {
			merge(present, below)
		} else {
			into[key] = value
		}
	}
}

func toYaml(value interface{}) string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	fail(encoder.Encode(value))
	return strings.TrimSuffix(out.String(), "\n")
}

func fromYaml(text string) (values, error) {
	out := values{}
	err := yaml.Unmarshal([]byte(text), &out)
	return out, err
}

func fromYamlArray(text string) ([]interface{}, error) {
	out := []interface{}{}
	err := yaml.Unmarshal([]byte(text), &out)
	return out, err
}

func parse(chart string) *template.Template {
	root := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = toYaml
	functions["fromYaml"] = fromYaml
	functions["fromYamlArray"] = fromYamlArray
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out strings.Builder
		err := root.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	root.Funcs(functions)
	fail(filepath.Walk(filepath.Join(chart, "templates"), func(name string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || (path.Ext(name) != ".yaml" && path.Ext(name) != ".tpl") {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		_, err = root.New(name).Parse(string(content))
		return err
	}))
	return root
}

func readFiles(chart string) files {
	out := files{}
	names, err := filepath.Glob(filepath.Join(chart, "files", "*", "*"))
	fail(err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		fail(err)
		relative, err := filepath.Rel(chart, name)
		fail(err)
		out[filepath.ToSlash(relative)] = string(content)
	}
	return out
}

type manifest struct {
	kind, name, text string
}

func manifests(template, text string) []manifest {
	var out []manifest
	for _, part := range strings.Split("\n"+text, "\n---") {
		part = strings.TrimSpace(part)
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(part), &object); err != nil {
			fail(fmt.Errorf("%s: %v\n%s", template, err, part))
		}
		if object.Kind != "" {
			out = append(out, manifest{object.Kind, object.Metadata.Name, part})
		}
	}
	return out
}

func execute(root *template.Template, data values) []manifest {
	var all []manifest
	for _, one := range root.Templates() {
		if path.Ext(one.Name()) != ".yaml" {
			continue
		}
		var out strings.Builder
		fail(one.Execute(&out, data))
		all = append(all, manifests(one.Name(), out.String())...)
	}
	return all
}

func main() {
	namespace := flag.String("namespace", "kueue-system", "namespace of the release")
	release := flag.String("release", "berth", "name of the release")
	service := flag.String("managed-by", "Helm", "what the objects say they are managed by")
	overrides := flag.String("values", "", "files of values, separated by commas")
	changed := flag.Bool("changed", false, "only what is not the same without these values")
	flag.Parse()
	if flag.NArg() != 1 {
		fail(fmt.Errorf("expected one argument: the chart's directory"))
	}
	chart := flag.Arg(0)
	defaults := filepath.Join(chart, "values.yaml")
	set := readYaml(defaults)
	for _, name := range strings.FieldsFunc(*overrides, func(r rune) bool { return r == ',' }) {
		merge(set, readYaml(name))
	}
	about := values{}
	for key, value := range readYaml(filepath.Join(chart, "Chart.yaml")) {
		about[strings.ToUpper(key[:1])+key[1:]] = value
	}
	data := values{
		"Values":  set,
		"Chart":   about,
		"Release": values{"Name": *release, "Namespace": *namespace, "Service": *service},
		"Files":   readFiles(chart),
	}
	root := parse(chart)
	known := map[manifest]bool{}
	if *changed {
		data["Values"] = readYaml(defaults)
		for _, one := range execute(root, data) {
			known[one] = true
		}
		data["Values"] = set
	}
	all := execute(root, data)
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if rank(a.kind) != rank(b.kind) {
			return rank(a.kind) < rank(b.kind)
		}
		return a.kind+"/"+a.name < b.kind+"/"+b.name
	})
	for _, one := range all {
		if known[one] {
			continue
		}
		fmt.Printf("---\n%s\n", one.text)
	}
}
